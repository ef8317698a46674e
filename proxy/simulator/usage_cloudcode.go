package simulator

import (
	"cmp"
	"encoding/json"
	"time"
)

// cloudBucket is a pool of Cloud Code. A fraction of 0 is left out, as Google's JSON leaves out every 0.
type cloudBucket struct {
	ID        string  `json:"bucketId,omitempty"`
	Window    string  `json:"window,omitempty"`
	Model     string  `json:"modelId,omitempty"`
	Type      string  `json:"tokenType,omitempty"`
	Remaining float64 `json:"remainingFraction,omitempty"`
	Reset     string  `json:"resetTime,omitempty"`
}

// project is why the call gets nothing: it names another's project. One without is for the account's own.
func (u usageTold) project() *problem {
	var body struct {
		Project string `json:"project"`
	}
	if json.Unmarshal(u.body, &body) != nil {
		return violations([]*problem{{message: "Invalid JSON payload received. Unexpected end of string."}})
	}
	if body.Project == "" {
		return nil
	}
	return reviewProject(u.account, body.Project)
}

func (u usageTold) bucket(length time.Duration) cloudBucket {
	used, end := u.in(length)
	bucket := cloudBucket{Remaining: 1 - used}
	if !end.IsZero() {
		bucket.Reset = ceil(end).UTC().Format(time.RFC3339)
	}
	return bucket
}

// cloudSummary tells the four pools. The quota is that of both families.
func cloudSummary(u usageTold) ([]byte, *problem) {
	type group struct {
		Name    string        `json:"displayName"`
		Buckets []cloudBucket `json:"buckets"`
	}
	var groups []group
	for _, family := range []struct{ id, name string }{{"gemini", "Gemini"}, {"3p", "Third party"}} {
		session, weekly := u.bucket(fiveHours), u.bucket(week)
		session.ID, session.Window = family.id+"-5h", "5h"
		weekly.ID, weekly.Window = family.id+"-weekly", "weekly"
		groups = append(groups, group{family.name, []cloudBucket{session, weekly}})
	}
	return encode(map[string]any{"groups": groups}), u.project()
}

// nearest is the pool that binds first.
func (u usageTold) nearest() cloudBucket {
	session, weekly := u.bucket(fiveHours), u.bucket(week)
	if weekly.Remaining < session.Remaining {
		return weekly
	}
	return session
}

// cloudQuota tells the models one by one.
func cloudQuota(u usageTold) ([]byte, *problem) {
	buckets := []cloudBucket{}
	for _, m := range u.models {
		bucket := u.nearest()
		bucket.Model, bucket.Type = m, "REQUESTS"
		buckets = append(buckets, bucket)
	}
	return encode(map[string]any{"buckets": buckets}), u.project()
}

func cloudModels(u usageTold) ([]byte, *problem) {
	models := map[string]any{}
	for _, m := range u.models {
		models[m] = map[string]any{"displayName": m, "quotaInfo": u.nearest()}
	}
	return encode(map[string]any{"models": models}), u.project()
}

// cloudAssist tells the plan and the project.
func cloudAssist(u usageTold) ([]byte, *problem) {
	return encode(map[string]any{
		"currentTier":             map[string]string{"id": "free-tier", "name": "simulated"},
		"paidTier":                map[string]string{"id": "g1-pro-tier", "name": "simulated"},
		"cloudaicompanionProject": cmp.Or(u.account.Project, "simulated-project"),
	}), nil
}
