package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// The names under which this binary starts itself.
const (
	upstreamChild  = "upstream-child"
	yardstickChild = "reverseproxy-child"
)

// A child says its address in the first line of its stdout. It is asked by lines on its stdin, answers each by a line, and
// ends when stdin does: also when its parent was killed.
const (
	askCounts  = "counts"
	askRelease = "release"
)

// counts are what a child counts of itself.
type counts struct {
	Connections uint64 `json:"connections"` // accepted
	allocations
}

// allocations are a Go process's, since it began.
type allocations struct {
	Count uint64 `json:"allocations"`
	Bytes uint64 `json:"allocated_bytes"`
}

// answerParent is a child's side.
func answerParent(addr string, stdin io.Reader, stdout io.Writer, connections *atomic.Uint64, release func()) error {
	if _, err := fmt.Fprintln(stdout, addr); err != nil {
		return err
	}
	asked := bufio.NewScanner(stdin)
	for asked.Scan() {
		if asked.Text() == askRelease {
			release()
		}
		var mem runtime.MemStats
		runtime.ReadMemStats(&mem)
		c := counts{connections.Load(), allocations{mem.Mallocs, mem.TotalAlloc}}
		if err := json.NewEncoder(stdout).Encode(c); err != nil {
			return err
		}
	}
	return asked.Err()
}

// serveUpstream is the process of the mock upstream.
func serveUpstream(stdin io.Reader, stdout io.Writer) error {
	u, err := listenUpstream()
	if err != nil {
		return err
	}
	defer u.close()
	return answerParent(u.addr(), stdin, stdout, &u.connections, u.releaseHeld)
}

// process is a running part. Nobody but its starter ends it.
type process struct {
	name string
	addr string // where it serves
	cmd  *exec.Cmd
	end  func() // asks it to end

	in  io.WriteCloser
	out *bufio.Reader
}

// startChild starts this binary under another name and waits for its address.
func startChild(ctx context.Context, name string, args ...string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{name: name, cmd: exec.CommandContext(ctx, self, append([]string{name}, args...)...)}
	p.cmd.Stderr = os.Stderr
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.out, p.end = bufio.NewReader(out), func() { p.in.Close() }
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	if err := p.readAddress(); err != nil {
		p.stop()
		return nil, err
	}
	return p, nil
}

// readAddress reads a child's first line.
func (p *process) readAddress() error {
	line, err := p.out.ReadString('\n')
	if err != nil {
		return fmt.Errorf("start %s: %w", p.name, err)
	}
	p.addr = strings.TrimSpace(line)
	return nil
}

// ask sends a line and reads the answer.
func (p *process) ask(line string) (counts, error) {
	var c counts
	if _, err := fmt.Fprintln(p.in, line); err != nil {
		return c, fmt.Errorf("ask %s for %s: %w", p.name, line, err)
	}
	answer, err := p.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(answer, &c)
	}
	if err != nil {
		return c, fmt.Errorf("ask %s for %s: %w", p.name, line, err)
	}
	return c, nil
}

// stop ends the process, kindly at first, and waits for it.
func (p *process) stop() error {
	p.end()
	kill := time.AfterFunc(5*time.Second, func() { p.cmd.Process.Kill() })
	defer kill.Stop()
	var exit *exec.ExitError
	if err := p.cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return err
	}
	return nil
}
