//! Server builds: catalogue, fetching, configuration, instances, images.
