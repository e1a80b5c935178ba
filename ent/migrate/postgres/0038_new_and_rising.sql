-- +goose Up
-- modify "videos" table
ALTER TABLE "videos" ADD COLUMN "outlier_since" bigint NULL, ADD COLUMN "outlier_week" bigint NOT NULL DEFAULT 0, ADD COLUMN "posted_week" bigint NOT NULL DEFAULT 0, ADD COLUMN "rising_order" bytea NULL;
-- What is an outlier counts from its first flag, else from when it was seen first. A rescoring fills rising_order.
UPDATE "videos" SET "posted_week" = "posted_at" / 604800000 WHERE "posted_at" IS NOT NULL;
UPDATE "videos" SET "outlier_since" = COALESCE((SELECT MIN(p."observed_at") FROM "score_points" p
WHERE p."account_id" = "videos"."account_id" AND p."video_id" = "videos"."id" AND p."flag" = 1), "first_seen_at")
WHERE "outlier_order" IS NOT NULL;
UPDATE "videos" SET "outlier_week" = "outlier_since" / 604800000 WHERE "outlier_since" IS NOT NULL;
-- create index "video_new" to table: "videos"
CREATE INDEX "video_new" ON "videos" ("account_id", "archived", "kind", "outlier_week", "outlier_order");
-- create index "video_rising" to table: "videos"
CREATE INDEX "video_rising" ON "videos" ("account_id", "archived", "kind", "posted_week", "rising_order");
