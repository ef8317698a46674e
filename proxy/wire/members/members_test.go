package members

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"hermes-hub/proxy/wire"
)

// A member that is not as it must be is refused by its place, and only the first one: the client mends one thing at a time.
func TestRefusals(t *testing.T) {
	f := func(value, field string, read func(o *Object)) {
		t.Helper()
		var b Reader
		o := b.Object("at", []byte(`{"m":`+value+`}`))
		read(&o)
		got := ""
		if wrong, ok := errors.AsType[*wire.FieldError](b.Err()); ok {
			got = wrong.Field
		}
		if got != field {
			t.Errorf("%s: %v, want a complaint about %q", value, b.Err(), field)
		}
	}
	text := func(o *Object) { o.Text("m") }
	f(`"x"`, "", text)
	f(`null`, "", text)
	f(`7`, "at.m", text)
	f(`""`, "at.m", func(o *Object) { o.Needed("m") })
	f(`{}`, "at.m", func(o *Object) { o.List("m") })
	f(`[]`, "at.m", func(o *Object) { o.Child("m") })
	f(`{"a":1,"a":2}`, "at.m.a", func(o *Object) { o.Child("m") })
	f(`"true"`, "at.m", func(o *Object) { o.Flag("m") })
	f(`"1"`, "at.m", func(o *Object) { o.Number("m") })
	f(`1.5`, "at.m", func(o *Object) { o.Integer("m") })
	f(`0`, "at.m", func(o *Object) { o.Tokens("m", 1) })
	f(`"c"`, "at.m", func(o *Object) { o.OneOf("m", "a", "b") })
	f(`7`, "at.m", func(o *Object) { o.Flag("m"); o.Needed("n") })
	media := func(o *Object) { o.b.Media(o.Field("m"), o.Text("m")) }
	f(`"https://x.test/a.png"`, "", media)
	f(`"data:image/png;base64,QUJD"`, "", media)
	f(`"data:image/png,QUJD"`, "at.m", media)
	f(`"data:image/png;base64,QUJD\""`, "at.m", media)
	f(`"data:image/png;base64,"`, "at.m", media)
	f(`"file:///etc/passwd"`, "at.m", media)
}

// What nobody takes is listed once, without its index, and in words that may stand in a header.
func TestOthers(t *testing.T) {
	var b Reader
	for _, body := range []string{`{"taken":1,"left":2,"nothing":null,"x\r\ny":3}`, `{"left":4}`} {
		o := b.Object(At("items", 3), []byte(body))
		o.Take("taken")
		o.Rest()
	}
	if got := b.Others(); !slices.Equal(got, []string{"items[].left", "items[].?"}) || b.Err() != nil {
		t.Errorf("%q, %v", got, b.Err())
	}
	for i := range 100 {
		b.LeaveOut(strings.Repeat("x", i+1))
	}
	if got := b.Others(); len(got) != 33 || got[32] != "and-more" {
		t.Errorf("%d others: %q", len(got), got)
	}
}
