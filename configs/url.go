package configs

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

// url reads the URL of a service, "" when there is none. The value is never quoted: people put credentials into URLs,
// and that is one of the things refused here.
func (n node) url(schemes ...string) string {
	s := n.text("")
	if s == "" {
		return ""
	}
	u, err := parseURL(s, schemes...)
	switch {
	case err != nil:
	case u.User != nil:
		err = errors.New("the URL carries credentials; they belong into auth_config or headers")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		err = errors.New("the URL has a ? or # part; want the address that paths are appended to")
	}
	if err != nil {
		n.fail(": %v", err)
		return ""
	}
	return strings.TrimRight(s, "/")
}

// parseURL checks that s is an absolute URL of one of the schemes. The error holds nothing of s.
func parseURL(s string, schemes ...string) (*url.URL, error) {
	want := "want a URL that begins with " + strings.Join(schemes, ":// or ") + "://"
	u, err := url.Parse(s)
	switch {
	case strings.Contains(s, "${"):
		return nil, errors.New("${…} is only replaced in secrets; write the URL itself")
	case err != nil || !slices.Contains(schemes, strings.ToLower(u.Scheme)):
		return nil, errors.New(want)
	case u.Hostname() == "" || strings.ContainsAny(u.Host, " \t"):
		return nil, errors.New("the URL names no host")
	}
	return u, nil
}
