package proxy

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"hermes-hub/router"
)

func TestModels(t *testing.T) {
	s := setup{
		profiles: func(ps []router.Profile) {
			ps[0].ContextLength, ps[1].ContextLength = 200_000, 128_000
			ps[1].PreferredModels = []string{"sim-1", "vendor/sim-3"}
			ps[2].Enabled = false
			ps[2].PreferredModels = []string{"off"}
		},
		roles: []router.Role{
			{ID: "main", Name: "Main", Chain: []router.ChainItem{{Profile: "a"}, {Profile: "b"}}},
			{ID: "solo", Aliases: []string{"alone"}, Chain: []router.ChainItem{{Profile: "a"}}},
		},
		config: func(c *Config) {
			c.Keys = []Key{{Name: "all", Secret: router.NewSecret("key-all")}, {Name: "one", Secret: router.NewSecret("key-one"), Roles: []string{"solo"}}}
		},
	}
	r := newRig(t, s)
	f := func(key, path, want string) {
		t.Helper()
		got := r.send(http.MethodGet, path, "", "Authorization", "Bearer "+key)
		var list struct {
			Data    []model
			HasMore bool `json:"has_more"`
			model
		}
		if err := json.Unmarshal([]byte(got.body), &list); err != nil {
			t.Fatalf("%s: %v: %s", path, err, got.body)
		}
		if list.ID != "" {
			list.Data = []model{list.model}
		}
		var ids []string
		for _, m := range list.Data {
			id := m.ID
			switch m.ContextLength {
			case 128_000:
				id += ":128k"
			case 200_000:
				id += ":200k"
			}
			ids = append(ids, id)
			if m.Object != "model" || m.Type != "model" || m.Created == 0 || m.OwnedBy == "llamacpp" || m.MaxInputTokens != m.ContextLength {
				t.Errorf("%s: %+v", path, m)
			}
		}
		if list.HasMore {
			ids = append(ids, "…")
		}
		line := strings.Join(ids, " ")
		if got.status != 200 {
			line = got.line()
		}
		if line != want {
			t.Errorf("%s with %s\n got %s\nwant %s", path, key, line, want)
		}
	}
	f("key-all", "/v1/models", "main:128k solo:200k sim-1:128k sim-2:200k vendor/sim-3:128k")
	f("key-all", "/v1/models/", "main:128k solo:200k sim-1:128k sim-2:200k vendor/sim-3:128k")
	f("key-all", "/v1/models?limit=2&client_version=1", "main:128k solo:200k …")
	f("key-one", "/v1/models", "solo:200k sim-1:128k sim-2:200k")
	f("key-all", "/r/alone/v1/models", "solo:200k sim-1:128k sim-2:200k")
	f("key-all", "/v1/models/main", "main:128k")
	f("key-all", "/v1/models/vendor/sim-3", "vendor/sim-3:128k")
	f("key-all", "/r/main/v1/models/sim-2", "sim-2:200k")
	f("key-all", "/v1/models/role:solo", "role:solo:200k")
	f("key-all", "/v1/models/alone", "alone:200k")
	f("key-all", "/v1/models/auto", "auto:128k")
	f("key-all", "/r/solo/v1/models/auto", "auto:200k")
	f("key-one", "/v1/models/role:main", "404 code=model_not_found")
	f("key-all", "/v1/models/off", "404 code=model_not_found")
	f("key-one", "/v1/models/main", "404 code=model_not_found")
	f("key-all", "/r/nobody/v1/models", "404 code=model_not_found")
	f("key-one", "/r/main/v1/models", "403 code=role_forbidden")
	f("key-bad", "/v1/models", "401 code=invalid_api_key")
	r.wantCalls("a=0 b=0 c=0")
}

// Every code has its row: none is ever answered with status 0 or an empty type.
func TestEveryCodeHasAMeaning(t *testing.T) {
	codes := []code{
		codeInvalidRequest, codeInvalidKey, codeRoleForbidden, codeForeignHost, codeCrossOrigin, codeUpgradeRequired, codeModelNotFound, codeNotFound, codeMethodNotAllowed, codeBodyTooLarge,
		codeEncoding, codeBodyStalled, codeContextTooLong, codeUpstreamUnavailable, codeUsageLimit, codePayment, codeInterrupted,
		codeHubUnavailable, codeInternal,
	}
	if len(codes) != len(meanings) {
		t.Errorf("%d codes, %d meanings", len(codes), len(meanings))
	}
	for _, c := range codes {
		if m := meanings[c]; m.status < 400 || m.kind == "" {
			t.Errorf("%s means %+v", c, m)
		}
	}
}
