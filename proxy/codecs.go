package proxy

import (
	"slices"

	"hermes-hub/router"
)

// pair is a client's protocol and an account's.
type pair struct{ client, account router.Protocol }

// codecs are the pairs of protocols between which the hub translates. A client is served by accounts of its own protocol in
// any case: there its bytes pass.
var codecs = map[pair]codec{}

// codec makes a client's request one of the account's protocol, and the account's answer one of the client's.
type codec struct{}

// protocols are the upstream protocols in the order of the contract.
var protocols = [...]router.Protocol{
	router.ProtocolChat, router.ProtocolMessages, router.ProtocolResponses, router.ProtocolGemini, router.ProtocolCloudCode,
}

// servedBy are the protocols of the accounts that can serve a surface.
func servedBy(s *surface) []router.Protocol {
	served := []router.Protocol{s.protocol}
	for _, p := range protocols {
		if _, ok := codecs[pair{s.protocol, p}]; ok && !s.alone {
			served = append(served, p)
		}
	}
	return served
}

// Protocols are the upstream protocols that the proxy speaks to serve some client or other. A node of another protocol is
// skipped, and check warns.
func Protocols() []router.Protocol {
	var spoken []router.Protocol
	for _, s := range surfaces() {
		for _, p := range servedBy(s) {
			if !slices.Contains(spoken, p) {
				spoken = append(spoken, p)
			}
		}
	}
	return spoken
}
