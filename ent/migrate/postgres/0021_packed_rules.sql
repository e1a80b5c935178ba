-- +goose Up
-- modify "rulesets" table
ALTER TABLE "rulesets" ADD COLUMN "packed" bytea NULL;
