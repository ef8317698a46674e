package simulator

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Step is how one call is answered. StepName, Status, Stream and Raw are the steps there are.
type Step interface {
	fmt.Stringer
	play(*exchange) error
}

// StepName is a step of the table, as text that a file may hold: its name, and for some steps a blank and an argument, a
// number ("cut-reset 3") or a duration ("slow-first-token 200ms"). Steps lists the names.
type StepName string

// After is the step with a number: of events of the answer's substance that are sent first, or of an HTTP status.
func (s StepName) After(n int) StepName { return s + StepName(" "+strconv.Itoa(n)) }

// For is the step with a duration.
func (s StepName) For(d time.Duration) StepName { return s + StepName(" "+d.String()) }

// String is the text.
func (s StepName) String() string { return string(s) }

// ParseStep reads a step from text.
func ParseStep(text string) (StepName, error) {
	step := StepName(strings.Join(strings.Fields(text), " "))
	_, err := step.resolve()
	return step, err
}

// StepInfo describes a step of the table.
type StepInfo struct {
	Name  StepName
	About string // one line
	Takes string // what argument, in words
}

// Steps lists the steps of the table, in its order.
func Steps() []StepInfo {
	infos := make([]StepInfo, 0, len(table))
	for _, r := range table {
		infos = append(infos, StepInfo{Name: r.name, About: r.about, Takes: string(r.takes)})
	}
	return infos
}

// row is one step of the table.
type row struct {
	name  StepName
	takes takes
	play  func(*exchange, argument) error
	about string
}

// takes says in words what argument a step takes; it may always be left out.
type takes string

const (
	nothing  takes = "no argument"
	number   takes = "a number"
	duration takes = "a duration"
	status   takes = "a status from 200 to 599"
)

// argument is the argument of a step.
type argument struct {
	given    bool
	number   int
	duration time.Duration
}

// parse reads an argument, and reports whether it is one that the step takes.
func (t takes) parse(text string) (argument, bool) {
	arg := argument{given: true}
	var err error
	switch t {
	case number:
		arg.number, err = strconv.Atoi(text)
		return arg, err == nil && arg.number >= 0
	case status:
		arg.number, err = strconv.Atoi(text)
		return arg, err == nil && arg.number >= 200 && arg.number <= 599
	case duration:
		arg.duration, err = time.ParseDuration(text)
		return arg, err == nil && arg.duration >= 0
	}
	return arg, false
}

func (s StepName) play(x *exchange) error {
	play, err := s.resolve()
	if err != nil {
		panic(err) // every step was resolved before it was put into a script
	}
	return play(x)
}

// resolve finds the step in the table and reads its argument.
func (s StepName) resolve() (play, error) {
	name, text, given := strings.Cut(string(s), " ")
	i := slices.IndexFunc(table, func(r row) bool { return string(r.name) == name })
	if i < 0 {
		return nil, fmt.Errorf("simulator: no step %q", name)
	}
	var arg argument
	if given {
		var ok bool
		if arg, ok = table[i].takes.parse(text); !ok {
			return nil, fmt.Errorf("simulator: step %q takes %s, got %q", name, table[i].takes, text)
		}
	}
	return func(x *exchange) error { return table[i].play(x, arg) }, nil
}

// mustResolve panics for a step that is not in the table.
func mustResolve(steps []Step) {
	for _, step := range steps {
		if name, ok := step.(StepName); ok {
			if _, err := name.resolve(); err != nil {
				panic(err)
			}
		}
	}
}
