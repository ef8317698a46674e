package simulator

// plain is a play that takes no argument.
func plain(p play) func(*exchange, argument) error {
	return func(x *exchange, _ argument) error { return p(x) }
}
