// Package router decides who may serve a role now, in what order, and who holds a slot.
package router
