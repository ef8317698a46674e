// Package proxy is the plane that agents talk to.
package proxy
