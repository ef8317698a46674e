package sqlitestore_test

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"testing"

	"hermes-hub/runs/sqlitestore"
	"hermes-hub/runs/storetest"
)

// Variables of a process that is no test but a child of one.
const (
	childFile  = "SQLITESTORE_TEST_FILE"
	childRound = "SQLITESTORE_TEST_ROUND"
)

func TestMain(m *testing.M) {
	if file := os.Getenv(childFile); file != "" {
		fmt.Fprintln(os.Stderr, child(file))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// child writes until it is killed.
func child(file string) error {
	round, err := strconv.Atoi(os.Getenv(childRound))
	if err != nil {
		return err
	}
	ctx := context.Background()
	d, err := sqlitestore.Open(ctx, file, sqlitestore.Options{})
	if err != nil {
		return err
	}
	return storetest.Write(ctx, d.Runs(), round, os.Stdout)
}
