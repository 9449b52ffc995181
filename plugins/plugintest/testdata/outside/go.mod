module example.com/ourbot

go 1.26.0

require reeve v0.0.0

replace reeve => ../../../..
