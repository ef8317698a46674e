package main

import (
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync/atomic"
	"time"
)

// yardstick is what the hub is compared with: the standard library's reverse proxy as it is, but for a pool of upstream
// connections that is large enough. With the default one, two for each host, it dials anew under load.
func yardstick(upstream *url.URL) http.Handler {
	return &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(upstream) },
		Transport: &http.Transport{
			MaxIdleConnsPerHost: 32 << 10,
			IdleConnTimeout:     90 * time.Second,
			DisableCompression:  true,
		},
		ErrorLog: log.New(io.Discard, "", 0), // what breaks is seen, and counted, at the other end
	}
}

// serveYardstick is the process of the yardstick. args is the upstream's address.
func serveYardstick(args []string, stdin io.Reader, stdout io.Writer) error {
	if len(args) != 1 {
		return fmt.Errorf("%s takes the upstream's address", yardstickChild)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	s := &http.Server{Handler: yardstick(&url.URL{Scheme: "http", Host: args[0]}), ReadHeaderTimeout: 10 * time.Second}
	defer s.Close()
	go s.Serve(l) //nolint:errcheck // it ends when s is closed, with the process
	var none atomic.Uint64
	return answerParent(l.Addr().String(), stdin, stdout, &none, func() {})
}
