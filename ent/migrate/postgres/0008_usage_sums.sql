-- +goose Up
-- modify "usage_events" table
ALTER TABLE "usage_events" ADD COLUMN "count" bigint NULL;
