-- +goose Up
-- modify "creators" table
ALTER TABLE "creators" ADD COLUMN "standings" text NOT NULL DEFAULT '';
-- modify "videos" table
ALTER TABLE "videos" ADD COLUMN "early" bigint NOT NULL DEFAULT 0;
ALTER TABLE "videos" ADD COLUMN "alike" bigint NOT NULL DEFAULT 0;
ALTER TABLE "videos" ADD COLUMN "alike_creators" bigint NOT NULL DEFAULT 0;
-- modify "score_points" table
ALTER TABLE "score_points" ADD COLUMN "early" bigint NOT NULL DEFAULT 0;
-- modify "niches" table
ALTER TABLE "niches" ADD COLUMN "standings" bytea NULL;
