package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"hermes-hub/router"
)

// printExplanation tells an explanation in lines that a person can read, or as it came.
func printExplanation(out io.Writer, answer []byte, raw bool) error {
	if raw {
		_, err := fmt.Fprintln(out, strings.TrimSpace(string(answer)))
		return err
	}
	var e router.Explanation
	if err := json.Unmarshal(answer, &e); err != nil {
		return fmt.Errorf("read the hub's answer: %w", err)
	}
	fmt.Fprintf(out, "role %s (%s) at %s, snapshot %d\n", e.Role, e.RoleSource, e.At.Format(time.RFC3339), e.SnapshotSeq)
	t := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	for _, c := range e.Candidates {
		fmt.Fprintf(t, "%d\t%s\t%s\t%s\t%s\n", c.Position, c.ProfileID, orDash(c.Model), c.Verdict, candidateWhy(c, e.At))
	}
	return t.Flush()
}

func candidateWhy(c router.Candidate, now time.Time) string {
	var parts []string
	if c.Reason != nil {
		parts = append(parts, *c.Reason)
	}
	if c.Until != nil {
		parts = append(parts, fmt.Sprintf("until %s (%s)", c.Until.Format(time.RFC3339), c.Until.Sub(now).Round(time.Second)))
	}
	if c.Evidence != nil && c.Evidence.Detail != nil {
		parts = append(parts, "["+*c.Evidence.Detail+"]")
	}
	return strings.Join(parts, " ")
}

func orDash(s *string) string {
	if s == nil {
		return "-"
	}
	return *s
}
