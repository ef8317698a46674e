package httpapi

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// route is one path below /v1/ and what serves a method on it.
type route struct {
	method string
	path   string // {} stands for any one segment
	serve  func(*API, *call) error
}

// routes are all of them.
func routes() []route {
	const get, post = http.MethodGet, http.MethodPost
	return []route{
		{get, "capabilities", (*API).capabilities},
		{post, "runs", (*API).start},
		{get, "runs", (*API).list},
		{get, "runs/{}", (*API).look},
		{get, "runs/{}/events", (*API).events},
		{post, "runs/{}/events", (*API).post},
		{post, "runs/{}/stop", (*API).stop},
		{post, "runs/{}/cancel", (*API).stop},
		{post, "runs/{}/approval", (*API).approve},
		{post, "runs/{}/clarify", (*API).clarify},
		{post, "runs/{}/clarifications/{}/respond", (*API).clarify},
		{post, "runs/{}/messages", (*API).message},
		{post, "runs/{}/continue", (*API).message},
		{post, "runs/{}/steer", (*API).steer},
		{post, "runs/{}/goal", (*API).goal},
		{get, "sessions/{}/runs", (*API).listSession},
		{get, "sessions/{}/events", (*API).sessionEvents},
		{post, "sessions/{}/goal", (*API).sessionGoal},
		{http.MethodDelete, "sessions/{}", (*API).deleteSession},
	}
}

// responseRoutes are those of responses that are kept.
func responseRoutes() []route {
	return []route{
		{http.MethodGet, "responses/{}", (*API).getResponse},
		{http.MethodDelete, "responses/{}", (*API).deleteResponse},
		{http.MethodPost, "responses/{}/cancel", (*API).cancelResponse},
	}
}

// find finds what serves a request, and the segments of its path that stand for braces.
func find(r *http.Request, among []route) (serve func(*API, *call) error, args []string, err error) {
	path, ok := below(r.URL)
	var allow []string
	for _, route := range among {
		found, matches := match(strings.Split(route.path, "/"), path)
		switch {
		case !ok || !matches:
		case route.method == r.Method:
			return route.serve, found, nil
		case !slices.Contains(allow, route.method):
			allow = append(allow, route.method)
		}
	}
	if len(allow) > 0 {
		return nil, nil, &fault{code: codeMethodNotAllowed, message: r.Method + " is not allowed here", allow: strings.Join(allow, ", ")}
	}
	return nil, nil, &fault{code: codeNotFound, message: "no such path"}
}

// below are the segments of a path after v1, each one unescaped: an escaped slash does not end one.
func below(u *url.URL) (segments []string, ok bool) {
	path := strings.Split(strings.Trim(u.EscapedPath(), "/"), "/")
	switch {
	case path[0] == "r" && len(path) > 2:
		path = path[2:]
	case path[0] == "admin" && len(path) > 1:
		path = path[1:]
	}
	if path[0] != "v1" {
		return nil, false
	}
	for _, escaped := range path[1:] {
		segment, err := url.PathUnescape(escaped)
		if err != nil {
			return nil, false
		}
		segments = append(segments, segment)
	}
	return segments, true
}

func match(pattern, path []string) (args []string, ok bool) {
	if len(pattern) != len(path) {
		return nil, false
	}
	for i, want := range pattern {
		switch {
		case want == "{}" && path[i] != "":
			args = append(args, path[i])
		case want != path[i]:
			return nil, false
		}
	}
	return args, true
}
