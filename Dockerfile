# Fathom in a container: no compiler, not root, nothing written outside /data.
#
#   docker build -t fathom .
#   docker run --rm -v fathom-data:/data fathom keys add me --scopes admin      once; prints the key the pages ask for
#   docker run --rm --read-only --tmpfs /tmp -v fathom-data:/data -p 127.0.0.1:8080:8080 fathom

FROM python:3.11-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PYTHONDONTWRITEBYTECODE=1
WORKDIR /src
COPY . .
RUN python -m venv /opt/fathom \
    && /opt/fathom/bin/pip install --require-hashes --requirement requirements/run.txt \
    && /opt/fathom/bin/pip install --no-deps --no-build-isolation .
# Kernels for every x86-64 machine with AVX2; compiled here so that a container is ready in seconds.
ARG CPU=x86-64-v3
ENV NUMBA_CPU_NAME=${CPU} NUMBA_CPU_FEATURES= XDG_CACHE_HOME=/opt/fathom/cache
RUN /opt/fathom/bin/fathom warm-up

FROM python:3.11-slim-bookworm
ARG CPU=x86-64-v3
ENV PATH=/opt/fathom/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    NUMBA_CPU_NAME=${CPU} \
    NUMBA_CPU_FEATURES= \
    XDG_CACHE_HOME=/opt/fathom/cache \
    XDG_DATA_HOME=/data \
    XDG_CONFIG_HOME=/data/config \
    FATHOM_LOG__FORMAT=json
RUN groupadd --gid 10001 fathom \
    && useradd --uid 10001 --gid fathom --no-log-init --no-create-home --home-dir /data --shell /usr/sbin/nologin fathom \
    && install --directory --owner=fathom --group=fathom /data
COPY --from=build /opt/fathom /opt/fathom
USER 10001:10001
VOLUME /data
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 CMD ["python", "-m", "server.healthcheck"]
ENTRYPOINT ["fathom"]
CMD ["serve", "--host", "0.0.0.0"]
