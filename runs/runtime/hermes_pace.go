package runtime

import "time"

// hermesPace is how often a status is asked for while nothing else tells of the run: after 1 s, then ever slower, to every
// 5 s.
type hermesPace struct{ last time.Duration }

func (p *hermesPace) next() time.Duration {
	p.last = min(max(p.last*3/2, time.Second), 5*time.Second)
	return p.last
}
