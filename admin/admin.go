// Package admin is the plane that operators talk to.
package admin
