package admin

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
)

// readQuery reads the query as strictly as a body: a parameter that is not known would be a wish that is not granted, and of
// one that is given twice nobody can say which is meant. The error is a problem.
func readQuery(r *http.Request, known ...string) (url.Values, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, invalid("the query cannot be read: it holds a ; or a % that is not followed by two hexadecimal digits")
	}
	for name, values := range q {
		switch {
		case !slices.Contains(known, name):
			return nil, invalid(fmt.Sprintf("the parameter %q is not known here", clip(name)))
		case len(values) > 1:
			return nil, invalid(fmt.Sprintf("the parameter %q is given twice", name))
		}
	}
	return q, nil
}

// readOptional is readJSON for a body that may be missing; v is then left as it is. No parameter is known beside it.
func readOptional(r *http.Request, v any) error {
	if _, err := readQuery(r); err != nil {
		return err
	}
	body, err := io.ReadAll(r.Body)
	if large, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return tooLarge(large)
	}
	if err != nil {
		return invalid("the body ended too early")
	}
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return readJSON(r, v)
}

func tooLarge(err *http.MaxBytesError) error {
	return newProblem(http.StatusRequestEntityTooLarge, "too-large", fmt.Sprintf("The body has more than %d bytes.", err.Limit))
}
