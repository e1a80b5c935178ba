-- +goose Up
-- create "charges" table
CREATE TABLE `charges` (`id` integer NOT NULL, `account_id` integer NOT NULL, `kind` text NOT NULL, `fee` integer NOT NULL, `runs` integer NOT NULL DEFAULT (0), `held` integer NOT NULL DEFAULT (0), `ran` bool NOT NULL DEFAULT (false), `beat_at` integer NOT NULL, `created_at` integer NOT NULL, PRIMARY KEY (`id`), CONSTRAINT `charge_held_not_negative` CHECK (held >= 0));
-- create index "charge_beat_at_id" to table: "charges"
CREATE INDEX `charge_beat_at_id` ON `charges` (`beat_at`, `id`);
-- The open calls move.
INSERT INTO `charges` (`id`, `account_id`, `kind`, `fee`, `runs`, `held`, `ran`, `beat_at`, `created_at`) SELECT `id`, `account_id`, 'agent', `fee`, `runs`, `held`, `ran`, `beat_at`, `created_at` FROM `sandbox_calls`;
DROP TABLE `sandbox_calls`;
