package admin

import (
	"net/http"
	"slices"

	"hermes-hub/router"
)

// listLeases answers who holds which slot now, the newest lease first.
func (a *Admin) listLeases(w http.ResponseWriter, r *http.Request) error {
	part, err := readPart(r)
	if err != nil {
		return err
	}
	var held []router.LeaseInfo
	if a.leases != nil {
		held = slices.SortedFunc(slices.Values(a.leases()), func(x, y router.LeaseInfo) int {
			switch px, py := leasePosition(x), leasePosition(y); {
			case px.before(py):
				return -1
			case py.before(px):
				return 1
			}
			return 0
		})
	}
	return writeJSON(w, http.StatusOK, cut(held, part, leasePosition))
}

func leasePosition(l router.LeaseInfo) position { return position{l.StartedAt, l.LeaseID} }
