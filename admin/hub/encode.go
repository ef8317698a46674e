package hub

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// encode writes a picture as encoding/json does, but each account and each quota only once, although the contract shows an
// account twice and a quota three times.
func encode(s *HubSnapshot) (string, error) {
	frame := *s
	frame.ProfilesByProvider, frame.AllProfiles, frame.Quotas = nil, nil, nil
	text, err := json.Marshal(&frame)
	if err != nil {
		return "", err
	}
	accounts, quotas, err := encodeAccounts(s.AllProfiles)
	if err != nil {
		return "", err
	}
	// What stands before these members holds no value that is null under such a name: the first places are theirs.
	head, text, _ := bytes.Cut(text, []byte(`"profiles_by_provider":null,"all_profiles":null,`))
	middle, tail, _ := bytes.Cut(text, []byte(`,"quotas":null,`))
	var b strings.Builder
	b.Grow(len(head) + len(text) + 2*total(accounts) + total(quotas) + 128 + 64*len(s.ProfilesByProvider))
	b.Write(head)
	b.WriteString(`"profiles_by_provider":{`)
	for i, provider := range slices.Sorted(maps.Keys(s.ProfilesByProvider)) {
		comma(&b, i)
		key(&b, provider)
		b.WriteByte('[')
		for n, p := range s.ProfilesByProvider[provider] {
			comma(&b, n)
			b.Write(accounts[p.ProfileID])
		}
		b.WriteByte(']')
	}
	b.WriteString(`},"all_profiles":`)
	members(&b, accounts)
	b.WriteByte(',')
	b.Write(middle)
	b.WriteString(`,"quotas":`)
	members(&b, quotas)
	b.WriteByte(',')
	b.Write(tail)
	return b.String(), nil
}

// encodeAccounts are the accounts and their quotas as JSON, by profile id.
func encodeAccounts(profiles map[string]*ProfileViewModel) (accounts, quotas map[string][]byte, err error) {
	accounts, quotas = make(map[string][]byte, len(profiles)), make(map[string][]byte, len(profiles))
	none := []byte(`"quota_snapshot":null`)
	for id, p := range profiles {
		quota, err := json.Marshal(p.QuotaSnapshot)
		if err != nil {
			return nil, nil, err
		}
		rest := *p
		rest.QuotaSnapshot = nil
		account, err := json.Marshal(&rest)
		if err != nil {
			return nil, nil, err
		}
		// Quotes are escaped inside of strings, and no map of an account has a null: there is one such place.
		with := append(none[:len(none)-len("null"):len(none)-len("null")], quota...)
		accounts[id], quotas[id] = bytes.Replace(account, none, with, 1), quota
	}
	return accounts, quotas, nil
}

// members writes an object.
func members(b *strings.Builder, values map[string][]byte) {
	b.WriteByte('{')
	for i, name := range slices.Sorted(maps.Keys(values)) {
		comma(b, i)
		key(b, name)
		b.Write(values[name])
	}
	b.WriteByte('}')
}

func key(b *strings.Builder, name string) {
	text, _ := json.Marshal(name) // a string: it cannot fail
	b.Write(text)
	b.WriteByte(':')
}

func comma(b *strings.Builder, i int) {
	if i > 0 {
		b.WriteByte(',')
	}
}

func total(values map[string][]byte) int {
	n := 0
	for name, v := range values {
		n += len(name) + len(v) + 4
	}
	return n
}
