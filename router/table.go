package router

// Table is everything the configuration says about accounts and roles, cross-checked once. Immutable.
type Table struct {
	Settings Settings
	Profiles []*Profile // in file order
	Roles    []*Role    // in file order
}
