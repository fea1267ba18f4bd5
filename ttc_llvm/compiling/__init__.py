"""From a problem to a solution: options, search, stored plans; `front` holds the public function."""
