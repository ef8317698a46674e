package sqlitestore_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"testing"

	"hermes-hub/runs"
	"hermes-hub/runs/sqlitestore"
	"hermes-hub/runs/storetest"
)

// Variables of a process that is no test but a child of one.
const (
	childFile  = "SQLITESTORE_TEST_FILE"
	childRound = "SQLITESTORE_TEST_ROUND"
	childLines = "SQLITESTORE_TEST_LINES" // so many, and then it ends; "": never
)

func TestMain(m *testing.M) {
	if file := os.Getenv(childFile); file != "" {
		fmt.Fprintln(os.Stderr, child(file))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// child writes until it is killed, or has written enough.
func child(file string) error {
	round, err := strconv.Atoi(os.Getenv(childRound))
	if err != nil {
		return err
	}
	lines, err := strconv.Atoi(cmp.Or(os.Getenv(childLines), "0"))
	if err != nil {
		return err
	}
	ctx := context.Background()
	d, err := sqlitestore.Open(ctx, file, sqlitestore.Options{})
	if err != nil {
		return err
	}
	return storetest.Write(ctx, stubborn{d.Runs()}, round, &output{lines})
}

// stubborn sends again what failed, as a journal does.
type stubborn struct{ runs.Store }

func (s stubborn) Append(ctx context.Context, bs []runs.Batch) (answers []runs.Answer, err error) {
	for range 100 {
		if answers, err = s.Store.Append(ctx, bs); err == nil {
			break
		}
	}
	return answers, err
}

var errEnough = errors.New("enough")

// output is stdout for so many lines; 0: for ever.
type output struct{ lines int }

func (o *output) Write(b []byte) (int, error) {
	if o.lines--; o.lines == 0 {
		return 0, errEnough
	}
	return os.Stdout.Write(b)
}
