package redact

import (
	"regexp"
	"strings"
)

// shape is one form that secrets have.
type shape struct {
	needles []string // one of them is in every text that the pattern matches; folded: compared without case
	folded  bool
	pattern *regexp.Regexp
	instead string
}

// mayBeIn reports whether the pattern may match a text; lower is the same text in lower case.
func (s shape) mayBeIn(text, lower string) bool {
	if s.folded {
		text = lower
	}
	for _, n := range s.needles {
		if strings.Contains(text, n) {
			return true
		}
	}
	return false
}

// shapes are what providers and tools call their secrets by, as their documentation tells.
var shapes = []shape{
	{[]string{"PRIVATE KEY"}, false, regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)`), Mark},
	{
		[]string{"sk-", "gsk_", "xai-", "pplx-", "tgp_v1_", "csk-", "fw_", "nvapi-"},
		false,
		regexp.MustCompile(`\b(?:sk-|gsk_|xai-|pplx-|tgp_v1_|csk-|fw_|nvapi-)[A-Za-z0-9_-]{16,}`), Mark,
	},
	{
		[]string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "npm_", "hf_", "r8_", "dop_v1_"},
		false,
		regexp.MustCompile(`\b(?:gh[pousr]_|github_pat_|glpat-|npm_|hf_|r8_|dop_v1_)[A-Za-z0-9_-]{20,}`), Mark,
	},
	{[]string{"AKIA", "ASIA"}, false, regexp.MustCompile(`\b(?:AKIA|ASIA)[0-9A-Z]{16}\b`), Mark},
	{[]string{"AIza", "ya29.", "1//0", "GOCSPX-"}, false, regexp.MustCompile(`\b(?:AIza[0-9A-Za-z_-]{35}|ya29\.[0-9A-Za-z_-]{20,}|1//0[0-9A-Za-z_-]{20,}|GOCSPX-[0-9A-Za-z_-]{20,})`), Mark},
	{[]string{"xox", "xapp-"}, false, regexp.MustCompile(`\b(?:xox[abeoprs]-|xapp-)[A-Za-z0-9-]{10,}`), Mark},
	{[]string{"eyJ"}, false, regexp.MustCompile(`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?`), Mark},
	{[]string{"authorization"}, true, regexp.MustCompile(`(?i)\b(authorization["']?[ \t]*[:=][ \t]*["']?)(?:(?:basic|bearer|digest|token|apikey|negotiate)[ \t]+[^\s"',;]{4,}|[^\s"',;]{16,})`), "${1}" + Mark},
	{[]string{"://"}, false, regexp.MustCompile(`(\b[a-z][a-z0-9+.-]*://)[^\s/@:"']*:[^\s/@"']+@`), "${1}" + Mark + "@"},
}

// named are values behind a word that promises a secret. What has no digit is a word or code: a type, a call, a variable.
var named = []shape{
	{needles: []string{"bearer"}, folded: true, pattern: regexp.MustCompile(`(?i)\b(bearer[ \t]+)([A-Za-z0-9._~+/=-]{8,})`)},
	{
		needles: []string{"key", "token", "secret", "passw", "pwd", "credential"}, folded: true,
		pattern: regexp.MustCompile(`(?i)\b((?:[a-z0-9]+[_-])*(?:(?:api|access|secret|private)[_-]?key|(?:[a-z]+[_-]?)?token|(?:client[_-]?)?secret|password|passwd|pwd|credentials?)["']?[ \t]*[:=][ \t]*["']?)([^\s"',;&\[\](){}<>$*]{8,})`),
	},
}

// withoutValue takes out what the pattern's second group matched, where it has a digit.
func (s shape) withoutValue(text string) string {
	var b strings.Builder
	copied := 0
	for _, m := range s.pattern.FindAllStringSubmatchIndex(text, -1) {
		if strings.ContainsAny(text[m[4]:m[5]], "0123456789") {
			b.WriteString(text[copied:m[4]])
			b.WriteString(Mark)
			copied = m[5]
		}
	}
	if copied == 0 {
		return text
	}
	return b.String() + text[copied:]
}

var email = regexp.MustCompile(`\b[A-Za-z0-9][A-Za-z0-9._%+-]*@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,}\b`)

// members are names whose string is a secret whatever it looks like, without case, _ and -.
var members = map[string]bool{
	"apikey": true, "xapikey": true, "accesstoken": true, "refreshtoken": true, "idtoken": true, "authtoken": true, "sessiontoken": true,
	"authorization": true, "proxyauthorization": true, "clientsecret": true, "secretkey": true, "privatekey": true, "secret": true,
	"password": true, "passwd": true, "passphrase": true, "cookie": true, "setcookie": true, "bearer": true, "credential": true, "credentials": true,
	"writertoken": true,
}

var folding = strings.NewReplacer("_", "", "-", "")

func sensitive(member string) bool {
	return len(member) >= 6 && members[strings.ToLower(folding.Replace(member))]
}

// pathMembers hold paths, in which an @ makes no e-mail address.
var pathMembers = map[string]bool{"workspace": true, "cwd": true, "path": true, "file_path": true, "project": true, "workdir": true}
