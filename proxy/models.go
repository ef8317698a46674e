package proxy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gin-gonic/gin"

	"hermes-hub/router"
)

// model is one entry of the model list: the fields of OpenAI's and of Anthropic's list together, and the window under the
// names that clients look for. max_tokens is left out on purpose: some take it for the window.
type model struct {
	ID             string `json:"id"`
	Object         string `json:"object"`
	Created        int64  `json:"created"`
	OwnedBy        string `json:"owned_by"`
	Type           string `json:"type"`
	DisplayName    string `json:"display_name"`
	CreatedAt      string `json:"created_at"`
	ContextLength  int    `json:"context_length,omitempty"`
	MaxModelLen    int    `json:"max_model_len,omitempty"`
	MaxInputTokens int    `json:"max_input_tokens,omitempty"`
}

type modelList struct {
	Object  string  `json:"object"`
	Data    []model `json:"data"`
	HasMore bool    `json:"has_more"`
	FirstID *string `json:"first_id"`
	LastID  *string `json:"last_id"`
}

// listModels answers from memory: role ids first, then models, as far as the key may see them.
func (p *Proxy) listModels(c *gin.Context) {
	models, no := p.visibleModels(c)
	if no != nil {
		p.plain(c, no)
		return
	}
	list := modelList{Object: "list", Data: models}
	if limit, err := strconv.Atoi(c.Query("limit")); err == nil && limit > 0 && limit < len(models) {
		list.Data, list.HasMore = models[:limit], true
	}
	if len(list.Data) > 0 {
		list.FirstID, list.LastID = &list.Data[0].ID, &list.Data[len(list.Data)-1].ID
	}
	p.sendJSON(c, list)
}

// oneModel answers for one id, which may hold slashes.
func (p *Proxy) oneModel(c *gin.Context) {
	id := strings.Trim(c.Param("id"), "/")
	if id == "" {
		p.listModels(c)
		return
	}
	models, no := p.visibleModels(c)
	if no != nil {
		p.plain(c, no)
		return
	}
	listed := p.listedAs(id, c.Param("role"))
	for i := range models {
		if models[i].ID == listed {
			found := models[i]
			found.ID = id
			p.sendJSON(c, found)
			return
		}
	}
	p.plain(c, &refusal{code: codeModelNotFound, message: fmt.Sprintf("model not found: %q", id), param: "model"})
}

// listedAs is the entry that an id stands for which is in no list: role:<id>, a role's alias, and the words that leave the
// model to the role.
func (p *Proxy) listedAs(id, bound string) string {
	t := p.router.Snapshot().Table
	name := strings.TrimPrefix(id, "role:")
	if !router.Concrete(id) {
		name = cmp.Or(bound, t.Settings.DefaultRole)
	}
	if r, ok := t.Role(name); ok {
		return r.ID
	}
	return id
}

// visibleModels are the entries that the request's key may see, bound to the path's role where there is one.
func (p *Proxy) visibleModels(c *gin.Context) ([]model, *refusal) {
	key, no := p.settings.Load().keys.find(c.Request.Header)
	if no != nil {
		return nil, no
	}
	t := p.router.Snapshot().Table
	roles := t.Roles
	if key != nil && len(key.Roles) > 0 {
		roles = slices.DeleteFunc(slices.Clone(roles), func(r *router.Role) bool { return !slices.Contains(key.Roles, r.ID) })
	}
	if name := c.Param("role"); name != "" {
		bound, ok := t.Role(name)
		if !ok {
			return nil, roleRefusal(&router.UnknownRoleError{Carrier: "path", Name: name})
		}
		if !slices.Contains(roles, bound) {
			return nil, roleRefusal(&router.RoleForbiddenError{Role: bound.ID})
		}
		roles = []*router.Role{bound}
	}
	return p.entries(t, roles), nil
}

// entries lists the roles and then what their accounts list.
func (p *Proxy) entries(t *router.Table, roles []*router.Role) []model {
	out := make([]model, 0, len(roles)+8)
	for _, r := range roles {
		out = append(out, p.entry(r.ID, "hermes-hub", r.Name, t.RoleWindow(r)))
	}
	for _, m := range t.RoleModels(roles) {
		if !slices.ContainsFunc(roles, func(r *router.Role) bool { return r.ID == m }) {
			out = append(out, p.entry(m, "hermes-hub", m, t.ModelWindow(m)))
		}
	}
	return out
}

func (p *Proxy) entry(id, owner, name string, window int) model {
	if name == "" {
		name = id
	}
	return model{
		ID: id, Object: "model", Created: p.started, OwnedBy: owner,
		Type: "model", DisplayName: name, CreatedAt: time.Unix(p.started, 0).UTC().Format(time.RFC3339),
		ContextLength: window, MaxModelLen: window, MaxInputTokens: window,
	}
}

func (p *Proxy) sendJSON(c *gin.Context, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		p.logger.Error("encode answer", "error", err)
		p.plain(c, &refusal{code: codeInternal, message: "internal error of the hub; its log has the details"})
		return
	}
	nameRequest(c.Writer.Header())
	c.Data(http.StatusOK, "application/json", body)
}
