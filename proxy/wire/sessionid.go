package wire

import "strings"

// sessionOf is the session that a metadata.user_id names. Claude Code puts its session into it: from 2.1.78 on as JSON,
// {"device_id":…,"account_uuid":…,"session_id":…}, before as user_…_account_…_session_…. Anybody else's is taken whole.
func sessionOf(userID string) string {
	if i := strings.LastIndex(userID, "_session_"); i >= 0 && strings.HasPrefix(userID, "user_") {
		if id := userID[i+len("_session_"):]; id != "" {
			return id
		}
	}
	if !strings.HasPrefix(userID, "{") {
		return userID
	}
	text := []byte(userID)
	session := ""
	m := Object(text)
	for name, value, ok := m.Next(); ok; name, value, ok = m.Next() {
		if string(name) == "session_id" {
			id, _ := Text(value.In(text))
			session = string(id)
		}
	}
	if m.Err() != nil || session == "" {
		return userID
	}
	return session
}
