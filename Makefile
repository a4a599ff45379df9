# Everything a developer does with this repository. `make help` lists it.

CONFIGURATION ?= debug
SWIFT_BUILD   := $(if $(filter release,$(CONFIGURATION)),scripts/build-release,swift build)
BINARY        := .build/$(CONFIGURATION)/data-gateway
VENV          := .venv
REQUIREMENTS  := Tests/Acceptance/requirements.txt
# The modules whose tests have a database.
POSTGRES_TESTS := Accounts|Backup|Catalog|Companions|Console|CopyJobs|Database|DeviceInit|Identity|LibraryArchive|Members|ObjectStore|Serve|ShareCodes|SignIn|StoreServer|Uploads|Webhooks

.DEFAULT_GOAL := help
.PHONY: help deps build test lint venv demo scale-out-demo run generate conformance fuzz lab test-objects postgres deb deb-device package-test dist apt-repository docs clean

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-14s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

deps: ## Install the system packages that are missing (apt-get; asks sudo if you are not root)
	@scripts/deps

build: deps ## Build the server and its tools (CONFIGURATION=release for an optimized one)
	$(SWIFT_BUILD)

test: deps venv ## Build, lint, run the Swift tests and then the acceptance tests
	@scripts/test

test-objects: deps venv ## Run the acceptance tests of the store with its objects on Ceph's RGW (ENGINE=weed: on SeaweedFS)
	@scripts/deps ceph-mon ceph-osd ceph-mgr radosgw ceph-common
	swift build
	@$(VENV)/bin/python scripts/objects $(or $(ENGINE),rgw) -n 2 --dist loadfile

postgres: deps venv ## Run the Swift tests of modules that have a database on a PostgreSQL of their own
	@scripts/deps postgresql-15
	swift build --build-tests
	@$(VENV)/bin/python scripts/sql serve swift test --skip-build --disable-xctest --no-parallel \
		--filter '^($(POSTGRES_TESTS))Tests\.'

lint: deps venv ## Check everything that needs no build: formatting, common mistakes, module imports, wording
	@scripts/deps shellcheck nodejs
	@scripts/lint

venv: $(VENV)/ready ## Create the Python environment of the acceptance tests and of the demo

$(VENV)/ready: $(REQUIREMENTS) | deps
	@scripts/venv $(VENV) $(REQUIREMENTS)

demo: build venv ## Provision a device, upload, list, download and compare, and describe each step
	@$(VENV)/bin/python scripts/demo.py --binary $(BINARY)

scale-out-demo: venv ## Run three gateways with PostgreSQL, Ceph and HAProxy, and choose what to kill while clients upload
	@scripts/deps postgresql-15 haproxy ceph-mon ceph-osd ceph-mgr radosgw ceph-common
	@$(VENV)/bin/python deploy/scale-out/demo $(ARGUMENTS)

run: build ## Serve on the default listeners, with ./data as the data directory
	$(BINARY) serve --data-dir ./data

generate: deps ## Write Sources/Proto from protos/
	@scripts/generate

conformance: deps ## Run protobuf's conformance suite on Wire (needs deb-src lines in apt's sources)
	@scripts/conformance

fuzz: deps ## Fuzz every parser for FUZZ_SECONDS each (default: 600)
	@scripts/fuzz $(or $(FUZZ_SECONDS),600)

lab: deps venv ## Run the laboratory: the long form of the model, fault, crash and load tests (several hours)
	@scripts/lab

deb: deps ## Build the Debian package, including the Swift runtime, in .build/package
	@scripts/deb

deb-device: deps ## Build the Debian package of a device, without the server
	@scripts/deb-device

dist: deps venv ## Build all files of a version, with tarballs and a container image, in .build/dist
	@scripts/dist

apt-repository: deps ## Add the packages of `make dist` to a signed apt repository in .build/apt
	@scripts/apt-repository $(PACKAGES)

package-test: build venv ## Build all files of a version and test them in minimal Debians (needs root)
	@scripts/package-test

docs: deps ## Build the libraries' documentation from their comments, with warnings as errors, in .build/documentation
	@scripts/docs

clean: ## Remove what was built (never ./data)
	rm -rf .build $(VENV)
