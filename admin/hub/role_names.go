package hub

import (
	"cmp"

	"hermes-hub/router"
)

// roleText is what a role is called and what it is for.
type roleText struct{ name, purpose label }

// roleTexts are those of the contract's roles, by id.
var roleTexts = map[string]roleText{
	"orchestrator":    {label{"Главный оркестратор", "Main orchestrator"}, label{"Управление командой, планирование, контроль исполнения", "Leads the team, plans, and checks what is done"}},
	"coder-primary":   {label{"Кодер 1", "Coder 1"}, label{"Основная разработка кода и исправление дефектов", "Writes most of the code and mends defects"}},
	"coder-secondary": {label{"Кодер 2", "Coder 2"}, label{"Параллельная разработка и вспомогательные модули", "Writes in parallel, and the modules beside"}},
	"reviewer":        {label{"Ревьюер", "Reviewer"}, label{"Независимое fail-closed ревью и валидация diff", "Reviews independently, fail-closed, and validates the diff"}},
	"research":        {label{"Исследователь", "Researcher"}, label{"Read-only поиск в кодовой базе и сбор фактов", "Searches the code read-only and collects facts"}},
	"fast":            {label{"Быстрый агент", "Fast agent"}, label{"Оперативные вызовы, вспомогательные проверки", "Quick calls and small checks"}},
	"universal":       {label{"Универсальный агент", "Universal agent"}, label{"Широкий спектр общих задач", "General tasks of all kinds"}},
}

// textOf is a role's text: a name that its owner gave wins, and a role of the owner's own does general tasks.
func textOf(r *router.Role) roleText {
	t, ok := roleTexts[r.ID]
	if !ok {
		t.purpose = roleTexts["universal"].purpose
	}
	if r.Name != "" && r.Name != r.ID || !ok {
		own := cmp.Or(r.Name, r.ID)
		t.name = label{own, own}
	}
	return t
}

// slotNames are the names of the slots that the Python hub comes with, for accounts that their owner gave none.
var slotNames = map[string]string{
	"codex-orch": "Главный оркестратор", "ag-orch-fallback": "Резервный оркестратор", "claude-orch": "Оркестратор (Claude)",
	"grok-orch": "Оркестратор (Grok)", "codex-worker-1": "Кодер 1", "ag-w1": "Кодер 2", "codex-worker-2": "Ревьюер",
	"ag-w2": "Исследователь", "ag-w3": "Быстрый агент", "ag-w4": "Универсальный субагент", "opengo-1": "Кодер (OpenCode)",
	"opengo-2": "Исследователь (OpenCode)", "opengo-3": "Резервный роутер (OpenCode)", "ag-spare-1": "Резерв 1",
	"ag-spare-2": "Резерв 2", "ag-cold-1": "Холодный резерв 1", "ag-cold-2": "Холодный резерв 2", "ag-cold-3": "Холодный резерв 3",
}
