-- From this version on, the sample at the start of a step may refer to the end of an earlier step of
-- its trial. The view has every value of every sample, whether the sample repeats it or not.
CREATE VIEW whole_sample_value AS
WITH RECURSIVE origin (sample_id, from_id, steps_back) AS (
    SELECT id, id, 0 FROM sample
    UNION ALL
    SELECT origin.sample_id, sample.base_id, steps_back + 1
    FROM origin JOIN sample ON sample.id = origin.from_id
    WHERE sample.base_id IS NOT NULL
),
latest AS (
    -- Of the rows of a group, SQLite takes the value from the one with the least.
    SELECT origin.sample_id, counter_id, value, min(steps_back)
    FROM origin
        JOIN sample_value ON sample_value.sample_id = origin.from_id
        JOIN counter ON counter.id = counter_id
    WHERE steps_back = 0 OR source IN ('status', 'innodb')
    GROUP BY origin.sample_id, counter_id
)
SELECT sample_id, counter_id, value FROM latest WHERE value IS NOT NULL;
