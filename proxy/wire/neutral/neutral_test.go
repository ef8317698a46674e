package neutral

import (
	"slices"
	"testing"
)

// A conversation that failed over: what the first account sealed means nothing to the second.
func TestUnsealTakesForeignReasoningOut(t *testing.T) {
	r := Request{Turns: []Turn{{Role: Assistant, Path: "messages[1]", Parts: []Part{
		{Kind: ReasoningPart, Text: Literal(`"mine"`), Seal: Seal{Format: SealAnthropic, Data: "own"}},
		{Kind: ReasoningPart, Text: Literal(`"theirs"`), Seal: Seal{Format: SealAnthropic, Data: "foreign"}},
		{Kind: ToolCallPart, ID: "call_1", Name: "look", Seal: Seal{Format: SealGoogle, Data: "foreign"}},
		{Kind: TextPart, Text: Literal(`"done"`)},
	}}}}
	before := r.Turns[0].Parts
	removed := r.Unseal(func(s Seal) bool { return s.Data == "own" })
	if want := []string{"messages[1].reasoning_details", "messages[1].reasoning_details"}; !slices.Equal(removed, want) {
		t.Errorf("removed %q, want %q", removed, want)
	}
	var kinds []PartKind
	for _, p := range r.Turns[0].Parts {
		kinds = append(kinds, p.Kind)
		if p.Seal.Data == "foreign" {
			t.Errorf("part %d keeps a foreign seal", p.Kind)
		}
	}
	if want := []PartKind{ReasoningPart, ToolCallPart, TextPart}; !slices.Equal(kinds, want) {
		t.Errorf("left are the kinds %d, want %d", kinds, want)
	}
	if before[1].Seal.Data != "foreign" {
		t.Error("the parts that another account was asked with have changed")
	}
}

func TestLiteralInner(t *testing.T) {
	for in, want := range map[string]string{``: ``, `""`: ``, `"a \"b\""`: `a \"b\"`} {
		if got := string(Literal(in).Inner()); got != want {
			t.Errorf("inner of %s is %s, want %s", in, got, want)
		}
	}
}
