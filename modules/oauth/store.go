package oauth

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"github.com/scrollery/scrollery/ent"
	entauthorization "github.com/scrollery/scrollery/ent/authorization"
	"github.com/scrollery/scrollery/modules/kernel/audit"
	"github.com/scrollery/scrollery/modules/kernel/publicid"
	"github.com/scrollery/scrollery/modules/kernel/store"
)

// The steps of an authorization.
const (
	stepCode     = "code"     // the person is to type the mailed code
	stepConsent  = "consent"  // the person is to choose an account and scopes
	stepGranted  = "granted"  // the client is to exchange its code
	stepRedeemed = "redeemed" // it has
)

// rows keeps authorizations.
type rows struct{ db *store.DB }

// authorization is a row.
type authorization struct {
	id                           int64
	step, email                  string
	clientID, redirectURI, state string
	challenge, resource          string
	scopes                       []string
	accountID, parentID, keyID   int64
	verifiedAt, expiresAt        time.Time
}

// current reports whether the step can be taken.
func (a authorization) current(step string, now time.Time) bool {
	return a.step == step && now.Before(a.expiresAt)
}

// add stores the first step of a request.
func (r rows) add(ctx context.Context, tx *store.Tx, secret, email string, q request, now time.Time) error {
	err := tx.Ent().Authorization.Create().
		SetID(r.db.NewID()).SetSecretHash(hashOf(secret)).SetStep(stepCode).SetEmail(email).
		SetClientID(q.clientID).SetRedirectURI(q.redirectURI).SetState(q.state).SetScopes(strings.Join(q.scopes, " ")).
		SetChallenge(q.challenge).SetResource(q.resource).
		SetCreatedAt(now.UnixMilli()).SetExpiresAt(now.Add(formTTL).UnixMilli()).
		Exec(ctx)
	if err != nil {
		return fmt.Errorf("store an authorization: %w", err)
	}
	return nil
}

// lock makes other transactions wait that continue with the same secret.
func (r rows) lock(ctx context.Context, tx *store.Tx, secret string) error {
	return tx.Lock(ctx, "authorization "+hex.EncodeToString(hashOf(secret)[:16]), 0)
}

// find returns the authorization that a secret continues; found is false for none.
func (r rows) find(ctx context.Context, client *ent.Client, secret string) (a authorization, found bool, err error) {
	row, err := client.Authorization.Query().Where(entauthorization.SecretHash(hashOf(secret))).Only(ctx)
	if ent.IsNotFound(err) {
		return authorization{}, false, nil
	}
	if err != nil {
		return authorization{}, false, fmt.Errorf("load an authorization: %w", err)
	}
	a = authorization{
		id: row.ID, step: row.Step, email: row.Email, clientID: row.ClientID, redirectURI: row.RedirectURI, state: row.State,
		challenge: row.Challenge, resource: row.Resource, scopes: strings.Fields(row.Scopes), expiresAt: time.UnixMilli(row.ExpiresAt),
		accountID: orZero(row.AccountID), parentID: orZero(row.ParentID), keyID: orZero(row.KeyID), verifiedAt: time.UnixMilli(orZero(row.VerifiedAt)),
	}
	return a, true, nil
}

func orZero(value *int64) int64 {
	if value == nil {
		return 0
	}
	return *value
}

// verify goes on to the consent, with another secret.
func (r rows) verify(ctx context.Context, tx *store.Tx, a authorization, secret string, now time.Time) error {
	return tx.Ent().Authorization.UpdateOneID(a.id).
		SetStep(stepConsent).SetSecretHash(hashOf(secret)).
		SetVerifiedAt(now.UnixMilli()).SetExpiresAt(now.Add(consentTTL).UnixMilli()).
		Exec(ctx)
}

// grant goes on to the code. From then on the row has an account and no address.
func (r rows) grant(ctx context.Context, tx *store.Tx, a authorization, code string, now time.Time) error {
	return tx.Ent().Authorization.UpdateOneID(a.id).
		SetStep(stepGranted).SetSecretHash(hashOf(code)).SetEmail("").
		SetAccountID(a.accountID).SetParentID(a.parentID).SetScopes(strings.Join(a.scopes, " ")).
		SetExpiresAt(now.Add(codeTTL).UnixMilli()).
		Exec(ctx)
}

// redeem notes what the code was exchanged for; no session where the exchange was refused.
func (r rows) redeem(ctx context.Context, tx *store.Tx, a authorization, made *Session, now time.Time) error {
	row := tx.Ent().Authorization.UpdateOneID(a.id).SetStep(stepRedeemed).SetExpiresAt(now.UnixMilli())
	if made != nil {
		row.SetKeyID(made.KeyID).SetExpiresAt(made.ExpiresAt.UnixMilli())
	}
	return row.Exec(ctx)
}

// note adds an audit entry about the client of an authorization.
func (r rows) note(ctx context.Context, tx *store.Tx, a authorization, action string, keyID int64) error {
	host, err := checkClientID(a.clientID)
	if err != nil {
		return err
	}
	return audit.Write(ctx, tx, r.db.NewID(), audit.Entry{
		AccountID: a.accountID, Action: action, Subject: publicid.Format(publicid.Key, keyID),
		Detail: host + ": " + strings.Join(a.scopes, " "),
	})
}

// remove deletes an authorization that was denied.
func (r rows) remove(ctx context.Context, tx *store.Tx, id int64) error {
	return tx.Ent().Authorization.DeleteOneID(id).Exec(ctx)
}

// sweep removes at most limit authorizations whose last step ended before a moment.
func (r rows) sweep(ctx context.Context, before time.Time, limit int) (removed int, err error) {
	err = r.db.Write(ctx, func(ctx context.Context, tx *store.Tx) error {
		ids, err := tx.Ent().Authorization.Query().
			Where(entauthorization.ExpiresAtLT(before.UnixMilli())).
			Order(entauthorization.ByID()).Limit(limit).IDs(ctx)
		if err != nil {
			return err
		}
		removed, err = tx.Ent().Authorization.Delete().Where(entauthorization.IDIn(ids...)).Exec(ctx)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("remove old authorizations: %w", err)
	}
	return removed, nil
}
