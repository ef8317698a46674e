package hub

import (
	"fmt"
	"math"
	"strconv"

	"hermes-hub/quota"
)

// What stands behind the text of whatever rests on a simulated bucket.
const (
	simulatedRU = " (симуляция)"
	simulatedEN = " (simulated)"
)

// label is a text in the contract's language and in English.
type label struct{ ru, en string }

// healthLabels are those of accounts and of their families of models.
var healthLabels = map[HealthState]label{
	HealthDisabled:      {"Отключён", "Disabled"},
	HealthColdSpare:     {"Холодный резерв", "Cold spare"},
	HealthNotConfigured: {"Аккаунт не добавлен", "No account added"},
	HealthQuota:         {"Квота исчерпана", "Quota exhausted"},
	HealthRateLimited:   {"Лимит запросов", "Rate limited"},
	HealthCooldown:      {"Временная пауза", "Cooling down"},
	HealthUnhealthy:     {"Ошибка", "Error"},
	HealthHealthy:       {"Работает", "Working"},
	HealthAuthRequired:  {"Требуется авторизация", "Authorization required"},
}

// reauthorize is the label of an account whose credential is refused.
var reauthorize = label{"Требуется повторная авторизация", "Needs to sign in again"}

// marked is the label of what rests on a source.
func (l label) marked(s quota.Source) (ru, en string) {
	if QuotaSource(s) == QuotaSimulated {
		return l.ru + simulatedRU, l.en + simulatedEN
	}
	return l.ru, l.en
}

// phrases remembers labels that many buckets of a picture have in common.
type phrases[K comparable] map[K]label

func (p phrases[K]) of(key K, say func() label) label {
	l, ok := p[key]
	if !ok {
		l = say()
		p[key] = l
	}
	return l
}

// healthLabel is that of an account.
func healthLabel(c condition, auth AuthState) (ru, en string) {
	if c.state == HealthUnhealthy && auth != Authenticated {
		return reauthorize.ru, reauthorize.en
	}
	return healthLabels[c.state].marked(c.source)
}

// familyLabel is that of a family of models: a spent quota tells how long.
func familyLabel(state HealthState, remaining int, source quota.Source) (ru, en string) {
	l := healthLabels[state]
	if state == HealthQuota && remaining > 0 {
		left := fmt.Sprintf(" (%ds)", remaining)
		l = label{l.ru + left, l.en + left}
	}
	return l.marked(source)
}

// stepLabel is that of a step of a pipeline, and of the agent who is it.
func stepLabel(c condition) (ru, en string) {
	if c.state == HealthQuota {
		return label{"Исчерпан", "Exhausted"}.marked(c.source)
	}
	return healthLabels[c.state].marked(c.source)
}

// label says what is left of a pool: "30/100 · Осталось 70%", "Осталось 70%", "Н/Д".
func (v *QuotaBucket) label() label {
	var l label
	switch {
	case v.RemainingPercent.Known:
		left := percentText(v.RemainingPercent.Value)
		l = label{"Осталось " + left, left + " left"}
	case v.UsedPercent.Known:
		used := percentText(v.UsedPercent.Value)
		l = label{"Использовано " + used, used + " used"}
	case v.RemainingAbsolute.Known:
		left := strconv.FormatInt(v.RemainingAbsolute.Value, 10)
		return label{"Осталось " + left, left + " left"}
	default:
		return label{"Н/Д", "n/a"}
	}
	if v.UsedAbsolute.Known && v.LimitAbsolute.Known {
		count := fmt.Sprintf("%d/%d · ", v.UsedAbsolute.Value, v.LimitAbsolute.Value)
		l = label{count + l.ru, count + l.en}
	}
	return l
}

// percentText rounds, but never to nothing or everything what is neither.
func percentText(v float64) string {
	switch {
	case v > 0 && v < 1:
		return "<1%"
	case v > 99 && v < 100:
		return "99%"
	}
	return strconv.FormatFloat(math.Round(v), 'f', -1, 64) + "%"
}

// resetLabel says in how many seconds a window is full again, in the two greatest units: "Сброс через 2д 2ч"; less than a
// minute is one.
func resetLabel(seconds int) label {
	if seconds <= 0 {
		return label{"Сброс: сейчас", "Resets now"}
	}
	minutes := max(seconds/60, 1)
	hours, days := minutes/60, minutes/(24*60)
	n := strconv.Itoa
	l := label{n(minutes) + "м", n(minutes) + "m"}
	switch {
	case days > 0:
		l = label{n(days) + "д " + n(hours%24) + "ч", n(days) + "d " + n(hours%24) + "h"}
	case hours > 0:
		l = label{n(hours) + "ч " + n(minutes%60) + "м", n(hours) + "h " + n(minutes%60) + "m"}
	}
	return label{"Сброс через " + l.ru, "Resets in " + l.en}
}
