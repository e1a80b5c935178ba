-- +goose Up
-- Admission looks once a second for what other processes have changed: the database need not
-- tell it.
DROP TRIGGER "access_spent_more" ON "usage_counters";
DROP TRIGGER "access_spent" ON "usage_counters";
DROP TRIGGER "access_changed" ON "workspaces";
DROP TRIGGER "access_changed" ON "subscriptions";
DROP TRIGGER "access_changed" ON "keys";
DROP FUNCTION "access_changed"();
