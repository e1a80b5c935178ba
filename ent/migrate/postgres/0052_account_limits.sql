-- +goose Up
-- modify "subscriptions" table
ALTER TABLE "subscriptions" ADD COLUMN "limits" text NULL;
