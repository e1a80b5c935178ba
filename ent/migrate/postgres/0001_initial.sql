-- +goose Up
-- create "accounts" table
CREATE TABLE "accounts" ("id" bigint NOT NULL, "email" text NULL, "created_at" bigint NOT NULL, PRIMARY KEY ("id"));
-- create index "account_email_id" to table: "accounts"
CREATE INDEX "account_email_id" ON "accounts" ("email", "id");
-- create "audit_entries" table
CREATE TABLE "audit_entries" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "actor" text NOT NULL, "action" text NOT NULL, "subject" text NOT NULL, "detail" text NOT NULL, "created_at" bigint NOT NULL, PRIMARY KEY ("id"));
-- create index "auditentry_account_id_id" to table: "audit_entries"
CREATE INDEX "auditentry_account_id_id" ON "audit_entries" ("account_id", "id");
-- create "checkouts" table
CREATE TABLE "checkouts" ("id" bigint NOT NULL, "token_hash" bytea NULL, "session" text NOT NULL, "purpose" text NOT NULL, "plan" text NOT NULL, "interval" text NOT NULL, "amount_cents" bigint NOT NULL, "url" text NOT NULL, "status" text NOT NULL, "email" text NULL, "account_id" bigint NULL, "payment" text NULL, "external_id" text NULL, "refunded_cents" bigint NOT NULL DEFAULT 0, "disputed_cents" bigint NOT NULL DEFAULT 0, "reversed_cents" bigint NOT NULL DEFAULT 0, "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL, "updated_at" bigint NOT NULL, PRIMARY KEY ("id"));
-- create index "checkout_account_id_id" to table: "checkouts"
CREATE INDEX "checkout_account_id_id" ON "checkouts" ("account_id", "id");
-- create index "checkout_external_id" to table: "checkouts"
CREATE INDEX "checkout_external_id" ON "checkouts" ("external_id");
-- create index "checkout_payment" to table: "checkouts"
CREATE INDEX "checkout_payment" ON "checkouts" ("payment");
-- create index "checkout_session" to table: "checkouts"
CREATE UNIQUE INDEX "checkout_session" ON "checkouts" ("session");
-- create index "checkout_token_hash" to table: "checkouts"
CREATE UNIQUE INDEX "checkout_token_hash" ON "checkouts" ("token_hash");
-- create "codes" table
CREATE TABLE "codes" ("id" bigint NOT NULL, "email" text NOT NULL, "account_id" bigint NULL, "hash" bytea NOT NULL, "salt" bytea NOT NULL, "created_at" bigint NOT NULL, "expires_at" bigint NOT NULL, "tries" bigint NOT NULL DEFAULT 0, "used_at" bigint NULL, PRIMARY KEY ("id"));
-- create index "code_email_id" to table: "codes"
CREATE INDEX "code_email_id" ON "codes" ("email", "id");
-- create "creators" table
CREATE TABLE "creators" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "platform" text NOT NULL, "key" text NOT NULL, "handle" text NOT NULL, "dirty" bigint NOT NULL DEFAULT 0, "thin" bigint NOT NULL DEFAULT 0, PRIMARY KEY ("id"));
-- create index "creator_account_id_dirty_id" to table: "creators"
CREATE INDEX "creator_account_id_dirty_id" ON "creators" ("account_id", "dirty", "id");
-- create index "creator_account_id_platform_key" to table: "creators"
CREATE UNIQUE INDEX "creator_account_id_platform_key" ON "creators" ("account_id", "platform", "key");
-- create index "creator_account_id_platform_thin_id" to table: "creators"
CREATE INDEX "creator_account_id_platform_thin_id" ON "creators" ("account_id", "platform", "thin", "id");
-- create "credit_balances" table
CREATE TABLE "credit_balances" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "balance" bigint NOT NULL, "held" bigint NOT NULL DEFAULT 0, "owed" bigint NOT NULL, "updated_at" bigint NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "credit_balance_not_negative" CHECK (balance >= 0), CONSTRAINT "credit_held_is_there" CHECK ((held >= 0) AND (held <= balance)), CONSTRAINT "credit_owed_not_negative" CHECK (owed >= 0));
-- create index "creditbalance_account_id" to table: "credit_balances"
CREATE UNIQUE INDEX "creditbalance_account_id" ON "credit_balances" ("account_id");
-- create "credit_entries" table
CREATE TABLE "credit_entries" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "amount" bigint NOT NULL, "owed" bigint NOT NULL, "balance" bigint NOT NULL, "reason" text NOT NULL, "reference" text NOT NULL, "created_at" bigint NOT NULL, PRIMARY KEY ("id"));
-- create index "creditentry_account_id_id" to table: "credit_entries"
CREATE INDEX "creditentry_account_id_id" ON "credit_entries" ("account_id", "id");
-- create index "creditentry_reference" to table: "credit_entries"
CREATE UNIQUE INDEX "creditentry_reference" ON "credit_entries" ("reference");
-- create "jobs" table
CREATE TABLE "jobs" ("id" bigint NOT NULL, "kind" text NOT NULL, "args" text NOT NULL, "unique_key" text NULL, "attempt" bigint NOT NULL DEFAULT 0, "max_attempts" bigint NOT NULL, "run_at" bigint NOT NULL, "lease_until" bigint NOT NULL DEFAULT 0, "last_error" text NOT NULL DEFAULT '', "created_at" bigint NOT NULL, PRIMARY KEY ("id"));
-- create index "job_run_at_id" to table: "jobs"
CREATE INDEX "job_run_at_id" ON "jobs" ("run_at", "id");
-- create index "job_unique_key" to table: "jobs"
CREATE UNIQUE INDEX "job_unique_key" ON "jobs" ("unique_key");
-- create "keys" table
CREATE TABLE "keys" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "hash" bytea NOT NULL, "parent_id" bigint NULL, "scopes" text NOT NULL, "hint" text NOT NULL, "created_at" bigint NOT NULL, "expires_at" bigint NULL, "revoked_at" bigint NULL, PRIMARY KEY ("id"));
-- create index "key_account_id_id" to table: "keys"
CREATE INDEX "key_account_id_id" ON "keys" ("account_id", "id");
-- create index "key_hash" to table: "keys"
CREATE UNIQUE INDEX "key_hash" ON "keys" ("hash");
-- create index "key_parent_id" to table: "keys"
CREATE INDEX "key_parent_id" ON "keys" ("parent_id");
-- create "libraries" table
CREATE TABLE "libraries" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "revision" bigint NOT NULL DEFAULT 0, "videos" bigint NOT NULL DEFAULT 0, PRIMARY KEY ("id"));
-- create index "library_account_id" to table: "libraries"
CREATE UNIQUE INDEX "library_account_id" ON "libraries" ("account_id");
-- create "observations" table
CREATE TABLE "observations" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "video_id" bigint NOT NULL, "scroll_id" bigint NOT NULL, "stage" text NOT NULL, "views" bigint NULL, "likes" bigint NULL, "comments" bigint NULL, "shares" bigint NULL, "saves" bigint NULL, "observed_at" bigint NOT NULL, PRIMARY KEY ("id"));
-- create index "observation_scroll_id_video_id" to table: "observations"
CREATE UNIQUE INDEX "observation_scroll_id_video_id" ON "observations" ("scroll_id", "video_id");
-- create "payment_events" table
CREATE TABLE "payment_events" ("id" bigint NOT NULL, "event" text NOT NULL, "kind" text NOT NULL, "created_at" bigint NOT NULL, PRIMARY KEY ("id"));
-- create index "paymentevent_created_at_id" to table: "payment_events"
CREATE INDEX "paymentevent_created_at_id" ON "payment_events" ("created_at", "id");
-- create index "paymentevent_event" to table: "payment_events"
CREATE UNIQUE INDEX "paymentevent_event" ON "payment_events" ("event");
-- create "quota_entries" table
CREATE TABLE "quota_entries" ("id" bigint NOT NULL, "plugin" text NOT NULL, "quota" text NOT NULL, "account_id" bigint NOT NULL, "item" text NOT NULL, "units" bigint NOT NULL, "asked" bigint NOT NULL, "asked_at" bigint NOT NULL, "ends_at" bigint NOT NULL, PRIMARY KEY ("id"));
-- create index "quotaentry_ends_at_id" to table: "quota_entries"
CREATE INDEX "quotaentry_ends_at_id" ON "quota_entries" ("ends_at", "id");
-- create index "quotaentry_plugin_quota_ends_at_account_id_item" to table: "quota_entries"
CREATE UNIQUE INDEX "quotaentry_plugin_quota_ends_at_account_id_item" ON "quota_entries" ("plugin", "quota", "ends_at", "account_id", "item");
-- create "recurrences" table
CREATE TABLE "recurrences" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "every_days" bigint NOT NULL, "prompt" text NULL, "template" text NULL, "next_at" bigint NOT NULL, "created_at" bigint NOT NULL, PRIMARY KEY ("id"));
-- create index "recurrence_account_id" to table: "recurrences"
CREATE UNIQUE INDEX "recurrence_account_id" ON "recurrences" ("account_id");
-- create index "recurrence_next_at_id" to table: "recurrences"
CREATE INDEX "recurrence_next_at_id" ON "recurrences" ("next_at", "id");
-- create "rule_items" table
CREATE TABLE "rule_items" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "text" text NOT NULL, "position" bigint NOT NULL, "archived" boolean NOT NULL DEFAULT false, "archived_at" bigint NULL, "created_at" bigint NOT NULL, PRIMARY KEY ("id"));
-- create index "ruleitem_account_id_archived_position_id" to table: "rule_items"
CREATE INDEX "ruleitem_account_id_archived_position_id" ON "rule_items" ("account_id", "archived", "position", "id");
-- create "rulesets" table
CREATE TABLE "rulesets" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "version" bigint NOT NULL, "text" text NOT NULL, "created_at" bigint NOT NULL, PRIMARY KEY ("id"));
-- create index "ruleset_account_id_version" to table: "rulesets"
CREATE UNIQUE INDEX "ruleset_account_id_version" ON "rulesets" ("account_id", "version");
-- create "sandbox_calls" table
CREATE TABLE "sandbox_calls" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "fee" bigint NOT NULL, "runs" bigint NOT NULL DEFAULT 0, "held" bigint NOT NULL DEFAULT 0, "ran" boolean NOT NULL DEFAULT false, "beat_at" bigint NOT NULL, "created_at" bigint NOT NULL, PRIMARY KEY ("id"), CONSTRAINT "sandbox_call_held_not_negative" CHECK (held >= 0));
-- create index "sandboxcall_beat_at_id" to table: "sandbox_calls"
CREATE INDEX "sandboxcall_beat_at_id" ON "sandbox_calls" ("beat_at", "id");
-- create "scrolls" table
CREATE TABLE "scrolls" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "status" text NOT NULL, "stage" text NULL, "progress" text NOT NULL, "new_videos" bigint NOT NULL DEFAULT 0, "failure_code" text NULL, "schedule" bigint NULL, "template" text NULL, "prompt" text NULL, "rules_version" bigint NOT NULL DEFAULT 0, "subject" text NOT NULL, "idempotency_key" text NULL, "attempt" bigint NOT NULL DEFAULT 0, "heartbeat_at" bigint NOT NULL DEFAULT 0, "checkpoint" text NOT NULL DEFAULT '', "created_at" bigint NOT NULL, "updated_at" bigint NOT NULL, "started_at" bigint NULL, "completed_at" bigint NULL, PRIMARY KEY ("id"));
-- create index "scroll_account_id_id" to table: "scrolls"
CREATE INDEX "scroll_account_id_id" ON "scrolls" ("account_id", "id");
-- create index "scroll_account_id_idempotency_key" to table: "scrolls"
CREATE UNIQUE INDEX "scroll_account_id_idempotency_key" ON "scrolls" ("account_id", "idempotency_key");
-- create index "scroll_account_id_status_id" to table: "scrolls"
CREATE INDEX "scroll_account_id_status_id" ON "scrolls" ("account_id", "status", "id");
-- create index "scroll_status_heartbeat_at_id" to table: "scrolls"
CREATE INDEX "scroll_status_heartbeat_at_id" ON "scrolls" ("status", "heartbeat_at", "id");
-- create "scroll_records" table
CREATE TABLE "scroll_records" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "scroll_id" bigint NOT NULL, "platform" text NOT NULL, "external_id" text NOT NULL, "record" text NOT NULL, "seed" text NOT NULL, "known" boolean NOT NULL DEFAULT false, "refreshed" boolean NOT NULL DEFAULT false, "dropped_by" text NOT NULL DEFAULT '', "rank" double precision NOT NULL DEFAULT 0, PRIMARY KEY ("id"));
-- create index "scrollrecord_scroll_id_dropped_by_rank_id" to table: "scroll_records"
CREATE INDEX "scrollrecord_scroll_id_dropped_by_rank_id" ON "scroll_records" ("scroll_id", "dropped_by", "rank", "id");
-- create index "scrollrecord_scroll_id_platform_external_id" to table: "scroll_records"
CREATE UNIQUE INDEX "scrollrecord_scroll_id_platform_external_id" ON "scroll_records" ("scroll_id", "platform", "external_id");
-- create "subscriptions" table
CREATE TABLE "subscriptions" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "plan" text NOT NULL, "interval" text NOT NULL, "status" text NOT NULL, "period_end" bigint NULL, "external_id" text NULL, "synced" bigint NOT NULL DEFAULT 0, "created_at" bigint NOT NULL, "updated_at" bigint NOT NULL, PRIMARY KEY ("id"));
-- create index "subscription_account_id" to table: "subscriptions"
CREATE UNIQUE INDEX "subscription_account_id" ON "subscriptions" ("account_id");
-- create index "subscription_external_id" to table: "subscriptions"
CREATE INDEX "subscription_external_id" ON "subscriptions" ("external_id");
-- create "trends" table
CREATE TABLE "trends" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "subject" text NOT NULL, "with_archived" bigint NOT NULL, "key" text NOT NULL, "label" text NOT NULL, "place" bytea NOT NULL, "head" text NOT NULL, "video_count" bigint NOT NULL, "example1" bigint NULL, "example2" bigint NULL, "example3" bigint NULL, "members" bytea NULL, PRIMARY KEY ("id"));
-- create index "trend_account_id_subject_with_archived_key" to table: "trends"
CREATE UNIQUE INDEX "trend_account_id_subject_with_archived_key" ON "trends" ("account_id", "subject", "with_archived", "key");
-- create index "trend_account_id_subject_with_archived_place" to table: "trends"
CREATE INDEX "trend_account_id_subject_with_archived_place" ON "trends" ("account_id", "subject", "with_archived", "place");
-- create "trend_windows" table
CREATE TABLE "trend_windows" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "subject" text NOT NULL, "scrolls" text NOT NULL, "videos" bigint NOT NULL, "all_videos" bigint NOT NULL, PRIMARY KEY ("id"));
-- create index "trendwindow_account_id_subject" to table: "trend_windows"
CREATE UNIQUE INDEX "trendwindow_account_id_subject" ON "trend_windows" ("account_id", "subject");
-- create "usage_counters" table
CREATE TABLE "usage_counters" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "day" bigint NOT NULL, "units" bigint NOT NULL, PRIMARY KEY ("id"));
-- create index "usagecounter_account_id_day" to table: "usage_counters"
CREATE UNIQUE INDEX "usagecounter_account_id_day" ON "usage_counters" ("account_id", "day");
-- create "usage_events" table
CREATE TABLE "usage_events" ("id" bigint NOT NULL, "account_id" bigint NULL, "key_id" bigint NULL, "op" text NOT NULL, "status" text NOT NULL, "cost_cents" bigint NOT NULL, "ts" bigint NOT NULL, PRIMARY KEY ("id"));
-- create index "usageevent_key_id_id" to table: "usage_events"
CREATE INDEX "usageevent_key_id_id" ON "usage_events" ("key_id", "id");
-- create "verdicts" table
CREATE TABLE "verdicts" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "platform" text NOT NULL, "external_id" text NOT NULL, "scroll_id" bigint NOT NULL, "dropped" boolean NOT NULL DEFAULT false, "dropped_by" text NOT NULL DEFAULT '', "rule_id" text NOT NULL DEFAULT '', "rank" double precision NOT NULL DEFAULT 0, "reason" text NOT NULL DEFAULT '', "judged_at" bigint NOT NULL, PRIMARY KEY ("id"));
-- create index "verdict_account_id_id" to table: "verdicts"
CREATE INDEX "verdict_account_id_id" ON "verdicts" ("account_id", "id");
-- create index "verdict_account_id_platform_external_id" to table: "verdicts"
CREATE UNIQUE INDEX "verdict_account_id_platform_external_id" ON "verdicts" ("account_id", "platform", "external_id");
-- create index "verdict_account_id_scroll_id_id" to table: "verdicts"
CREATE INDEX "verdict_account_id_scroll_id_id" ON "verdicts" ("account_id", "scroll_id", "id");
-- create index "verdict_dropped_judged_at_id" to table: "verdicts"
CREATE INDEX "verdict_dropped_judged_at_id" ON "verdicts" ("dropped", "judged_at", "id");
-- create "videos" table
CREATE TABLE "videos" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "platform" text NOT NULL, "external_id" text NOT NULL, "creator_id" bigint NULL, "kind" text NOT NULL DEFAULT '', "subject" text NOT NULL, "scroll_id" bigint NOT NULL, "posted_at" bigint NULL, "first_seen_at" bigint NOT NULL, "observed_at" bigint NOT NULL, "gone_at" bigint NULL, "usable_views" bigint NULL, "usable_at" bigint NULL, "digest" bigint NOT NULL, "archived" bigint NOT NULL DEFAULT 0, "hook_archived" bigint NOT NULL DEFAULT 0, "hook_hidden" bigint NOT NULL DEFAULT 0, "seen_order" bytea NOT NULL, "hook_order" bytea NULL, "outlier_order" bytea NULL, PRIMARY KEY ("id"));
-- create index "video_account_id_archived_kind_outlier_order" to table: "videos"
CREATE INDEX "video_account_id_archived_kind_outlier_order" ON "videos" ("account_id", "archived", "kind", "outlier_order");
-- create index "video_account_id_archived_kind_seen_order" to table: "videos"
CREATE INDEX "video_account_id_archived_kind_seen_order" ON "videos" ("account_id", "archived", "kind", "seen_order");
-- create index "video_account_id_archived_outlier_order" to table: "videos"
CREATE INDEX "video_account_id_archived_outlier_order" ON "videos" ("account_id", "archived", "outlier_order");
-- create index "video_account_id_archived_platform_kind_seen_order" to table: "videos"
CREATE INDEX "video_account_id_archived_platform_kind_seen_order" ON "videos" ("account_id", "archived", "platform", "kind", "seen_order");
-- create index "video_account_id_creator_id" to table: "videos"
CREATE INDEX "video_account_id_creator_id" ON "videos" ("account_id", "creator_id");
-- create index "video_account_id_hook_hidden_hook_order" to table: "videos"
CREATE INDEX "video_account_id_hook_hidden_hook_order" ON "videos" ("account_id", "hook_hidden", "hook_order");
-- create index "video_account_id_platform_external_id" to table: "videos"
CREATE UNIQUE INDEX "video_account_id_platform_external_id" ON "videos" ("account_id", "platform", "external_id");
-- create index "video_account_id_platform_posted_at_id" to table: "videos"
CREATE INDEX "video_account_id_platform_posted_at_id" ON "videos" ("account_id", "platform", "posted_at" DESC, "id");
-- create "video_docs" table
CREATE TABLE "video_docs" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "doc" text NOT NULL, "hook" text NULL, "keys" text NOT NULL DEFAULT '', PRIMARY KEY ("id"));
-- create "workspaces" table
CREATE TABLE "workspaces" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "description" text NULL, "website" text NULL, "app_store_url" text NULL, "competitors" text NOT NULL, "subject_type" text NULL, "subject_url" text NULL, "canonical_id" text NULL, "name" text NULL, "created_at" bigint NOT NULL, "updated_at" bigint NOT NULL, PRIMARY KEY ("id"));
-- create index "workspace_account_id" to table: "workspaces"
CREATE UNIQUE INDEX "workspace_account_id" ON "workspaces" ("account_id");
