-- +goose Up
-- All tables at once, before any of them changes: a process that still runs would lock some of
-- them in another order meanwhile, and end this.
-- +goose StatementBegin
DO $$ BEGIN
LOCK TABLE "audit_entries", "creators", "credit_balances", "feeds", "libraries", "library_runs", "niches", "observations", "recurrences", "rule_items", "rulesets", "sandbox_calls", "sandbox_files", "score_points", "scroll_counts", "scroll_records", "scrolls", "subscriptions", "trend_windows", "trends", "uncounted_videos", "usage_counters", "verdicts", "video_docs", "video_terms", "videos", "webhook_deliveries", "webhooks", "workspaces" IN ACCESS EXCLUSIVE MODE;
END $$;
-- +goose StatementEnd
-- drop index "auditentry_account_id_id" from table: "audit_entries"
DROP INDEX "auditentry_account_id_id";
-- modify "audit_entries" table
ALTER TABLE "audit_entries" DROP CONSTRAINT "audit_entries_pkey", ADD PRIMARY KEY ("account_id", "id");
-- modify "creators" table
ALTER TABLE "creators" DROP CONSTRAINT "creators_pkey", ADD PRIMARY KEY ("id", "account_id");
-- modify "credit_balances" table
ALTER TABLE "credit_balances" DROP CONSTRAINT "credit_balances_pkey", ADD PRIMARY KEY ("id", "account_id");
-- modify "feeds" table
ALTER TABLE "feeds" DROP CONSTRAINT "feeds_pkey", ADD PRIMARY KEY ("id", "account_id");
-- modify "libraries" table
ALTER TABLE "libraries" DROP CONSTRAINT "libraries_pkey", ADD PRIMARY KEY ("id", "account_id");
-- modify "library_runs" table
ALTER TABLE "library_runs" DROP CONSTRAINT "library_runs_pkey", ADD PRIMARY KEY ("id", "account_id");
-- modify "niches" table
ALTER TABLE "niches" DROP CONSTRAINT "niches_pkey", ADD PRIMARY KEY ("id", "account_id");
-- modify "observations" table
ALTER TABLE "observations" DROP CONSTRAINT "observations_pkey", ADD PRIMARY KEY ("id", "account_id");
-- modify "recurrences" table
ALTER TABLE "recurrences" DROP CONSTRAINT "recurrences_pkey", ADD PRIMARY KEY ("id", "account_id");
-- modify "rule_items" table
ALTER TABLE "rule_items" DROP CONSTRAINT "rule_items_pkey", ADD PRIMARY KEY ("id", "account_id");
-- modify "rulesets" table
ALTER TABLE "rulesets" DROP CONSTRAINT "rulesets_pkey", ADD PRIMARY KEY ("id", "account_id");
-- modify "sandbox_calls" table
ALTER TABLE "sandbox_calls" DROP CONSTRAINT "sandbox_calls_pkey", ADD PRIMARY KEY ("id", "account_id");
-- modify "sandbox_files" table
ALTER TABLE "sandbox_files" DROP CONSTRAINT "sandbox_files_pkey", ADD PRIMARY KEY ("id", "account_id");
-- modify "score_points" table
ALTER TABLE "score_points" DROP CONSTRAINT "score_points_pkey", ADD PRIMARY KEY ("id", "account_id");
-- modify "scroll_counts" table
ALTER TABLE "scroll_counts" DROP CONSTRAINT "scroll_counts_pkey", ADD PRIMARY KEY ("id", "account_id");
-- drop index "scrollrecord_scroll_id_dropped_by_rank_id" from table: "scroll_records"
DROP INDEX "scrollrecord_scroll_id_dropped_by_rank_id";
-- drop index "scrollrecord_scroll_id_platform_external_id" from table: "scroll_records"
DROP INDEX "scrollrecord_scroll_id_platform_external_id";
-- modify "scroll_records" table
ALTER TABLE "scroll_records" DROP CONSTRAINT "scroll_records_pkey", ADD PRIMARY KEY ("id", "account_id");
-- create index "scrollrecord_account_id_scroll_id_dropped_by_rank_id" to table: "scroll_records"
CREATE INDEX "scrollrecord_account_id_scroll_id_dropped_by_rank_id" ON "scroll_records" ("account_id", "scroll_id", "dropped_by", "rank", "id");
-- create index "scrollrecord_account_id_scroll_id_platform_external_id" to table: "scroll_records"
CREATE UNIQUE INDEX "scrollrecord_account_id_scroll_id_platform_external_id" ON "scroll_records" ("account_id", "scroll_id", "platform", "external_id");
-- drop index "scroll_account_id_id" from table: "scrolls"
DROP INDEX "scroll_account_id_id";
-- modify "scrolls" table
ALTER TABLE "scrolls" DROP CONSTRAINT "scrolls_pkey", ADD PRIMARY KEY ("account_id", "id");
-- modify "subscriptions" table
ALTER TABLE "subscriptions" DROP CONSTRAINT "subscriptions_pkey", ADD PRIMARY KEY ("id", "account_id");
-- modify "trend_windows" table
ALTER TABLE "trend_windows" DROP CONSTRAINT "trend_windows_pkey", ADD PRIMARY KEY ("id", "account_id");
-- modify "trends" table
ALTER TABLE "trends" DROP CONSTRAINT "trends_pkey", ADD PRIMARY KEY ("id", "account_id");
-- drop index "uncountedvideo_account_id_id" from table: "uncounted_videos"
DROP INDEX "uncountedvideo_account_id_id";
-- modify "uncounted_videos" table
ALTER TABLE "uncounted_videos" DROP CONSTRAINT "uncounted_videos_pkey", ADD PRIMARY KEY ("account_id", "id");
-- modify "usage_counters" table
ALTER TABLE "usage_counters" DROP CONSTRAINT "usage_counters_pkey", ADD PRIMARY KEY ("id", "account_id");
-- drop index "verdict_account_id_id" from table: "verdicts"
DROP INDEX "verdict_account_id_id";
-- modify "verdicts" table
ALTER TABLE "verdicts" DROP CONSTRAINT "verdicts_pkey", ADD PRIMARY KEY ("account_id", "id");
-- modify "video_docs" table
ALTER TABLE "video_docs" DROP CONSTRAINT "video_docs_pkey", ADD PRIMARY KEY ("id", "account_id");
-- modify "videos" table
ALTER TABLE "videos" DROP CONSTRAINT "videos_pkey", ADD PRIMARY KEY ("id", "account_id");
-- modify "webhook_deliveries" table
ALTER TABLE "webhook_deliveries" DROP CONSTRAINT "webhook_deliveries_pkey", ADD PRIMARY KEY ("id", "account_id");
-- drop index "webhook_account_id_id" from table: "webhooks"
DROP INDEX "webhook_account_id_id";
-- modify "webhooks" table
ALTER TABLE "webhooks" DROP CONSTRAINT "webhooks_pkey", ADD PRIMARY KEY ("account_id", "id");
-- modify "workspaces" table
ALTER TABLE "workspaces" DROP CONSTRAINT "workspaces_pkey", ADD PRIMARY KEY ("id", "account_id");
-- The terms of videos, which search writes; Ent has no such table.
ALTER TABLE "video_terms" DROP CONSTRAINT "video_terms_pkey", ADD PRIMARY KEY ("id", "account_id");
