package admin

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/MicahParks/keyfunc/v3"
	"github.com/golang-jwt/jwt/v5"

	"hermes-hub/proxy/hostname"
)

// publicKey reads a PEM file with one public key; the kind of key decides the one algorithm that is accepted.
func publicKey(path string) (keys, error) {
	data, err := readAtMost(path, 64<<10)
	if err != nil {
		return keys{}, fmt.Errorf("admin.public_key_file: %w", err)
	}
	key, err := parsePublicKey(data)
	if err != nil {
		return keys{}, fmt.Errorf("admin.public_key_file %s %w", path, err)
	}
	switch key.(type) {
	case *rsa.PublicKey:
		return fixedKey(key, jwt.SigningMethodRS256), nil
	case *ecdsa.PublicKey:
		return fixedKey(key, jwt.SigningMethodES256), nil
	default:
		return fixedKey(key, jwt.SigningMethodEdDSA), nil
	}
}

func parsePublicKey(data []byte) (key any, err error) {
	block, _ := pem.Decode(data)
	switch {
	case block == nil:
		return nil, errors.New("holds no PEM block")
	case strings.HasSuffix(block.Type, "PRIVATE KEY"):
		return nil, errors.New("holds a private key, which belongs to the issuer alone; export its public key")
	case block.Type == "RSA PUBLIC KEY":
		key, err = x509.ParsePKCS1PublicKey(block.Bytes)
	case block.Type == "CERTIFICATE":
		var cert *x509.Certificate
		if cert, err = x509.ParseCertificate(block.Bytes); err == nil {
			key = cert.PublicKey
		}
	default:
		key, err = x509.ParsePKIXPublicKey(block.Bytes)
	}
	if err != nil {
		return nil, fmt.Errorf("holds no public key: %w", err)
	}
	return key, checkPublicKey(key)
}

// checkPublicKey accepts the keys of RS256, ES256 and EdDSA. A shared secret is none, wherever it comes from: whoever can
// read it could sign.
func checkPublicKey(key any) error {
	switch k := key.(type) {
	case *rsa.PublicKey:
		if bits := k.N.BitLen(); bits < 2048 {
			return fmt.Errorf("holds an RSA key of %d bits, at least 2048 are needed", bits)
		}
	case *ecdsa.PublicKey:
		if k.Curve != elliptic.P256() {
			return fmt.Errorf("holds an EC key on %s, want P-256", k.Curve.Params().Name)
		}
	case ed25519.PublicKey:
	default:
		return fmt.Errorf("holds a %T, want an RSA, EC or Ed25519 public key", key)
	}
	return nil
}

// Bounds of the fetching of a JWKS.
const (
	jwksTimeout = 10 * time.Second
	jwksMaxBody = 1 << 20
	jwksMaxWait = 10 * time.Millisecond // of a token with an unknown kid for its turn to refresh; a stranger makes nobody wait
)

// jwksKeys fetches the issuer's keys now, every hour, and when a token names an unknown one. An issuer that is away does
// not keep the hub from starting: until its keys are here, no token is good.
func jwksKeys(ctx context.Context, address string, log *slog.Logger) (keys, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "https" && !(u.Scheme == "http" && hostname.Loopback(u.Hostname())) {
		return keys{}, errors.New("admin.jwks_url is not an https URL (http is accepted for this machine only)")
	}
	set, err := keyfunc.NewDefaultOverrideCtx(ctx, []string{address}, keyfunc.Override{
		Client: &http.Client{
			Timeout:       jwksTimeout,
			Transport:     boundedBody{http.DefaultTransport},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		HTTPTimeout:      jwksTimeout,
		RateLimitWaitMax: jwksMaxWait,
		RefreshErrorHandlerFunc: func(string) func(context.Context, error) {
			return func(ctx context.Context, err error) {
				log.WarnContext(ctx, "cannot fetch the keys of admin.jwks_url", "err", err)
			}
		},
	})
	if err != nil {
		return keys{}, fmt.Errorf("admin.jwks_url: %w", err)
	}
	return keys{
		methods: []string{jwt.SigningMethodRS256.Alg(), jwt.SigningMethodES256.Alg(), jwt.SigningMethodEdDSA.Alg()},
		find: func(ctx context.Context) jwt.Keyfunc {
			find := set.KeyfuncCtx(ctx)
			return func(t *jwt.Token) (any, error) { return onlyPublic(find(t)) }
		},
	}, nil
}

// onlyPublic lets through the keys that checkPublicKey accepts; a token without a kid is tried against all of them.
func onlyPublic(found any, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	set, several := found.(jwt.VerificationKeySet)
	if !several {
		return found, checkPublicKey(found)
	}
	good := jwt.VerificationKeySet{}
	for _, key := range set.Keys {
		if checkPublicKey(key) == nil {
			good.Keys = append(good.Keys, key)
		}
	}
	return good, nil
}

// boundedBody cuts off answers that are larger than any JWKS.
type boundedBody struct{ base http.RoundTripper }

func (b boundedBody) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := b.base.RoundTrip(r)
	if err == nil {
		resp.Body = http.MaxBytesReader(nil, resp.Body, jwksMaxBody)
	}
	return resp, err
}

// readAtMost reads a whole file that is no larger than limit bytes.
func readAtMost(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, limit)
	}
	return data, nil
}
