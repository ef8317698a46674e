package httpapi

import (
	"os"
	"regexp"
	"testing"
)

// Every code has a status.
func TestStatuses(t *testing.T) {
	source, err := os.ReadFile("fault.go")
	if err != nil {
		t.Fatal(err)
	}
	codes := regexp.MustCompile(`code[A-Za-z]+ +code = "([a-z_]+)"`).FindAllSubmatch(source, -1)
	if len(codes) != len(statuses) {
		t.Errorf("%d codes, %d statuses", len(codes), len(statuses))
	}
	for _, c := range codes {
		if status := statuses[code(c[1])]; status < 400 {
			t.Errorf("%s: %d", c[1], status)
		}
	}
}
