// Package telemetry tells what happened: Exchange to metrics and to one log line. It knows none of the other packages;
// everything comes in as plain strings and numbers.
package telemetry
