package fakehermes

import "sync"

// queue is a run's events until somebody reads them. Two readers take events from each other.
type queue struct {
	mu     sync.Mutex
	frames []string
	over   bool
	bell   chan struct{} // closed and replaced with every change
}

func newQueue() *queue { return &queue{bell: make(chan struct{})} }

func (q *queue) push(frame string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.frames = append(q.frames, frame)
	q.ring()
}

func (q *queue) end() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.over = true
	q.ring()
}

func (q *queue) ring() {
	close(q.bell)
	q.bell = make(chan struct{})
}

// pop takes the next frame. over says that there will be none; else bell tells of news when ok is false.
func (q *queue) pop() (frame string, ok, over bool, bell <-chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.frames) > 0 {
		frame, q.frames = q.frames[0], q.frames[1:]
		return frame, true, false, nil
	}
	return "", false, q.over, q.bell
}
