package hub

// EventName is what an event is called on the bus.
type EventName string

// The events of the UI state contract, and the one that says that events were missed.
const (
	EventAccountUpdated     EventName = "ACCOUNT_UPDATED"
	EventAccountAdded       EventName = "ACCOUNT_ADDED"
	EventAccountRemoved     EventName = "ACCOUNT_REMOVED"
	EventAccountAuthChanged EventName = "ACCOUNT_AUTH_CHANGED"
	EventQuotaUpdated       EventName = "QUOTA_UPDATED"
	EventRoutingUpdated     EventName = "ROUTING_UPDATED"
	EventAgentUpdated       EventName = "AGENT_UPDATED"
	EventReadinessChanged   EventName = "SYSTEM_READINESS_CHANGED"
	EventRefreshStarted     EventName = "REFRESH_STARTED"
	EventRefreshCompleted   EventName = "REFRESH_COMPLETED"
	EventRefreshFailed      EventName = "REFRESH_FAILED"
	EventResync             EventName = "RESYNC"
)

// Numbers are what every event carries: those of the picture that it leads to. Of a refresh that began or failed Seq is the
// refresh's ticket, and no picture need have it.
type Numbers struct {
	Generation uint64 `json:"generation"`
	Seq        uint64 `json:"seq"`
}

func (n *Numbers) number(as Numbers) { *n = as }

// Payload is what an event tells, as its JSON.
type Payload interface {
	Name() EventName
	number(as Numbers)
}

// AccountUpdated tells of an account that is otherwise than before, its quota apart.
type AccountUpdated struct {
	ProfileID string            `json:"profile_id"`
	Profile   *ProfileViewModel `json:"profile"`
	Numbers
}

// AccountAdded tells of an account that is new.
type AccountAdded struct {
	Provider  string            `json:"provider"`
	ProfileID string            `json:"profile_id"`
	Profile   *ProfileViewModel `json:"profile"`
	Numbers
}

// AccountRemoved tells of an account that is gone.
type AccountRemoved struct {
	Provider  string `json:"provider"`
	ProfileID string `json:"profile_id"`
	Numbers
}

// AccountAuthChanged tells of an account that stands otherwise with its provider, or that was given or lost a credential.
type AccountAuthChanged struct {
	Provider  string    `json:"provider"`
	ProfileID string    `json:"profile_id"`
	AuthState AuthState `json:"auth_state"`
	Numbers
}

// QuotaUpdated tells of an account's quota. The contract names it twice.
type QuotaUpdated struct {
	Provider      string         `json:"provider"`
	ProfileID     string         `json:"profile_id"`
	Snapshot      *QuotaSnapshot `json:"snapshot"`
	QuotaSnapshot *QuotaSnapshot `json:"quota_snapshot"`
	Numbers
}

// RoutingUpdated tells of a role's route.
type RoutingUpdated struct {
	RoleID          string        `json:"role_id"`
	ActiveProfileID string        `json:"active_profile_id"`
	Pipeline        *RolePipeline `json:"pipeline"`
	Numbers
}

// AgentUpdated tells of who serves a role.
type AgentUpdated struct {
	RoleID string          `json:"role_id"`
	Agent  *AgentViewModel `json:"agent"`
	Numbers
}

// ReadinessChanged tells of the hub's condition.
type ReadinessChanged struct {
	Readiness *SystemReadiness `json:"readiness"`
	Numbers
}

// RefreshStarted tells of a refresh that has begun.
type RefreshStarted struct {
	Key string `json:"key"`
	Numbers
}

// RefreshCompleted tells of a refresh that was published.
type RefreshCompleted struct {
	DurationMS float64 `json:"duration_ms"` // since it began
	Numbers
}

// RefreshFailed tells of a refresh that came to nothing.
type RefreshFailed struct {
	Key   string `json:"key"`
	Error string `json:"error"`
	Numbers
}

// Resync tells that the snapshot is to be read again: events were missed, or what has changed no event can say.
type Resync struct{ Numbers }

// Name implements Payload.
func (*AccountUpdated) Name() EventName { return EventAccountUpdated }

// Name implements Payload.
func (*AccountAdded) Name() EventName { return EventAccountAdded }

// Name implements Payload.
func (*AccountRemoved) Name() EventName { return EventAccountRemoved }

// Name implements Payload.
func (*AccountAuthChanged) Name() EventName { return EventAccountAuthChanged }

// Name implements Payload.
func (*QuotaUpdated) Name() EventName { return EventQuotaUpdated }

// Name implements Payload.
func (*RoutingUpdated) Name() EventName { return EventRoutingUpdated }

// Name implements Payload.
func (*AgentUpdated) Name() EventName { return EventAgentUpdated }

// Name implements Payload.
func (*ReadinessChanged) Name() EventName { return EventReadinessChanged }

// Name implements Payload.
func (*RefreshStarted) Name() EventName { return EventRefreshStarted }

// Name implements Payload.
func (*RefreshCompleted) Name() EventName { return EventRefreshCompleted }

// Name implements Payload.
func (*RefreshFailed) Name() EventName { return EventRefreshFailed }

// Name implements Payload.
func (*Resync) Name() EventName { return EventResync }
