package main

import (
	"github.com/spf13/cobra"
)

func quotaCommand(w world) *cobra.Command {
	q := &cobra.Command{
		Use:   "quota",
		Short: "What provider answers say about quota",
		Args:  noArgs,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var pretty bool
	read := &cobra.Command{
		Use:   "read",
		Short: "Read recorded provider answers, JSON lines on stdin, and print what each means",
		Args:  noArgs,
		RunE: func(*cobra.Command, []string) error {
			bad, err := readQuotaLines(w.stdin, w.stdout, pretty)
			if err == nil && bad > 0 {
				return errFinding
			}
			return err
		},
	}
	read.Flags().BoolVar(&pretty, "pretty", false, "print a readable verdict instead of JSON")
	q.AddCommand(read)
	return q
}
