package quota

// readGeneric reads what is the same everywhere: status classes, Retry-After, the x-ratelimit and IETF headers, the common
// error shapes, codes and phrases. It serves unknown providers and those that have no file of their own.
func readGeneric(a *answer) Reading { return a.read(rules{}) }
