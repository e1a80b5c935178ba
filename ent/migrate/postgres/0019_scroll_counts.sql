-- +goose Up
-- create "scroll_counts" table
CREATE TABLE "scroll_counts" ("id" bigint NOT NULL, "account_id" bigint NOT NULL, "subject" text NOT NULL, "completed" bigint NOT NULL, "runs" bigint NOT NULL, PRIMARY KEY ("id"));
-- create index "scrollcount_account_id_subject" to table: "scroll_counts"
CREATE UNIQUE INDEX "scrollcount_account_id_subject" ON "scroll_counts" ("account_id", "subject");
-- The scrolls that were completed before; one of them lends its id.
INSERT INTO "scroll_counts" ("id", "account_id", "subject", "completed", "runs")
SELECT min("id"), "account_id", "subject", count(*), sum(CASE WHEN "template" IN ('import', 'observe_young') THEN 0 ELSE 1 END)
FROM "scrolls" WHERE "status" = 'completed' GROUP BY "account_id", "subject";
