package simulator

import (
	"crypto/sha256"
	"encoding/base64"
)

// sealSize is how many bytes of a seal prove whose it is.
const sealSize = 16

// seal makes the token by which an account knows its own reasoning again: a thinking block's signature, the encrypted
// content of a reasoning item, the signature of a thought. It holds the payload, and no other account can make it.
func seal(account, payload string) []byte {
	return append(mark(account, payload), payload...)
}

// unseal is the payload of a token, and whether the account made it.
func unseal(account string, token []byte) (payload string, own bool) {
	if len(token) < sealSize {
		return "", false
	}
	payload = string(token[sealSize:])
	return payload, string(mark(account, payload)) == string(token[:sealSize])
}

func mark(account, payload string) []byte {
	sum := sha256.Sum256([]byte("simulated seal\x00" + account + "\x00" + payload))
	return sum[:sealSize:sealSize]
}

// digest stands for a text in a seal that goes with the text.
func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return string(sum[:sealSize])
}

// base64Of writes a token as the providers do.
func base64Of(token []byte) string { return base64.StdEncoding.EncodeToString(token) }

// fromBase64 reads what base64Of wrote, nil of what is no base64.
func fromBase64(text string) []byte {
	token, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	return token
}
