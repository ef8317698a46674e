package clients

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"
)

// program is a client that is no Go library: a process that reads an ask a line on stdin and writes its outcome a line on
// stdout, both as JSON, until stdin ends. It has a home of its own and nothing of this process's environment.
type program struct {
	test *testing.T
	home string
	args []string

	cmd  *exec.Cmd // nil = not running
	in   io.Closer
	asks *json.Encoder
	told *json.Decoder
	said bytes.Buffer // on stderr; to be read when it has ended
}

// startProgram is the program's ask. The process is started by the first one, and has ended when the test has.
func startProgram(t *testing.T, args ...string) func(context.Context, ask) (outcome, error) {
	p := &program{test: t, home: t.TempDir(), args: args}
	t.Cleanup(func() { _ = p.end() })
	return p.ask
}

// ask makes one turn. A process that does not come back from it is ended; the next ask has a new one.
func (p *program) ask(ctx context.Context, a ask) (outcome, error) {
	if p.cmd == nil {
		if err := p.start(); err != nil {
			return outcome{}, err
		}
	}
	process := p.cmd.Process
	stop := context.AfterFunc(ctx, func() { _ = process.Kill() })
	defer stop()
	var got outcome
	err := p.asks.Encode(a)
	if err == nil {
		err = p.told.Decode(&got)
	}
	if err == nil {
		return got, nil
	}
	err = errors.Join(ctx.Err(), err, p.end())
	return outcome{}, fmt.Errorf("ask %v: %w\n%s", p.args, err, p.said.Bytes())
}

func (p *program) start() error {
	cmd := exec.CommandContext(p.test.Context(), p.args[0], p.args[1:]...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home}
	cmd.WaitDelay = time.Second
	p.said.Reset()
	cmd.Stderr = &p.said
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	p.cmd, p.in, p.asks, p.told = cmd, in, json.NewEncoder(in), json.NewDecoder(out)
	return nil
}

// end lets the process end, by the end of its input, and waits until it has.
func (p *program) end() error {
	if p.cmd == nil {
		return nil
	}
	_ = p.in.Close()
	err := p.cmd.Wait()
	p.cmd = nil
	return err
}
