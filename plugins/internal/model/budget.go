package model

import (
	"context"
	"sync"

	"github.com/scrollery/scrollery/plugins/stage"
)

const (
	tokensQuota   = "tokens"
	tokensSetting = "tokens_per_day"
	// tokensPerDay is the limit that a stage has where the operator sets none.
	tokensPerDay = 20_000_000
	// largestBlock is the most tokens that are asked for at once: a question takes its
	// tokens from a block, so that many questions cost few requests of the quota.
	largestBlock = 20_000
	// bytesToken is how many bytes one token is taken to be.
	bytesToken = 4
	// pictureTokens is what one picture of low detail costs.
	pictureTokens = 100
)

// Chat adds to a spec what a stage needs to ask a chat endpoint: the settings and the
// secret, the variables that such stages share, and the quota of tokens a day. The quota
// is the operator's; each tenant has its share of it, see [stage.Call.Spend].
func Chat(spec stage.Spec) stage.Spec {
	spec.Settings = append(Settings(), spec.Settings...)
	spec.Settings = append(spec.Settings, stage.Setting{
		Name: tokensSetting, Help: "Tokens a UTC day that a stage may spend for all accounts together, where it is not 20000000. Each account has an equal share.",
	})
	spec.Secrets = append(spec.Secrets, KeySecret)
	spec.Env = Env()
	spec.Env[tokensSetting] = "MODEL_TOKENS_PER_DAY"
	spec.Quotas = append(spec.Quotas, stage.Allowance{Name: tokensQuota, Limit: tokensPerDay, Setting: tokensSetting, Window: stage.UTCDay})
	return spec
}

// Budget takes the tokens of questions from the tenant's share of the quota. It is safe
// for concurrent use.
type Budget struct {
	call *stage.Call

	mu    sync.Mutex
	left  int64
	block int64
}

// NewBudget returns the budget of a call.
func NewBudget(call *stage.Call) *Budget { return &Budget{call: call} }

// Take takes the tokens of one question: the bytes that are sent, the tokens that the
// answer may have, and pictures. The error is that of [stage.Call.Spend]. The blocks that
// it asks for grow from one question to 20,000 tokens, so what is asked for and not used
// is at most as much again as what is used.
func (b *Budget) Take(ctx context.Context, sent int, answer int64, pictures int) error {
	tokens := int64(sent)/bytesToken + answer + int64(pictures)*pictureTokens
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.left < tokens {
		block := max(tokens-b.left, min(2*b.block, largestBlock))
		if err := b.call.Spend(ctx, tokensQuota, block); err != nil {
			return err
		}
		b.left, b.block = b.left+block, block
	}
	b.left -= tokens
	return nil
}
